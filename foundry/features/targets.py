"""Declares the platforms that files are written for."""

from typing import ClassVar

from foundry.features.feature import Feature
from foundry.features.stores import Store


class Target(Feature):
    """A platform.

    Attributes:
        platform: Its name, in errors about its limits.
        runs_image: It brings the Dockerfile along.
        longest_name: Characters that it takes in a server's name; 0 for any number.
    """

    platform: ClassVar[str]
    runs_image: ClassVar[bool] = True
    longest_name: ClassVar[int] = 0

    def explain(self, store: Store) -> str:
        """Return its part of the server's README, for a server with this store."""
        del store
        return self.section


class Docker(Target):
    """A container image."""

    name = "docker"
    platform = "runs as an unprivileged user, from a read-only file system"
    files = ("Dockerfile", ".dockerignore")
    contents = (("Dockerfile", "the container image"),)
    section = """
## Run it in a container

```sh
docker build -t {name} .
docker run --rm --read-only -p 127.0.0.1:{port}:{port} -e API_TOKENS {name}
docker run --rm {name} search "your question"
```

The image runs as an unprivileged user, from a read-only file system, and reports its health.
"""


class Compose(Target):
    """Docker Compose."""

    name = "compose"
    platform = "Docker Compose"
    files = ("compose.yaml",)
    contents = (("compose.yaml", "the container, for Docker Compose"),)

    def explain(self, store: Store) -> str:
        """Return its part of the README; an engine is started and filled first."""
        start = "cp .env.example .env    # and edit it\n"
        before = ""
        if not store.is_embedded:
            before = (
                f"In `.env`, {store.accounts}.\nPROJECT is the folder that this server was made"
                " from.\n\n"
            )
            start += (
                ". ./.env\n"
                f"docker compose up --detach --wait {store.service}\n"
                f"{store.publish}\n"
            )
        return f"""
## Run it with Docker Compose

{before}```sh
{start}docker compose up --detach --wait
```

`.env` needs `API_TOKENS`, and in `ALLOWED_HOSTS` the host name of your reverse proxy, because
`compose.yaml` only opens `PORT` to this machine.
"""


class Kubernetes(Target):
    """Kubernetes."""

    name = "kubernetes"
    platform = "Kubernetes: ConfigMap, Service, Deployment"
    files = ("kubernetes.yaml",)
    contents = (("kubernetes.yaml", "ConfigMap, Service and Deployment"),)

    def explain(self, store: Store) -> str:
        """Return its part of the README; an engine has a Secret of its own, and is filled."""
        secret = 'kubectl create secret generic {label} --from-literal=API_TOKENS="$API_TOKENS"'
        publishing = ""
        if not store.is_embedded:
            engine, server = store.secrets
            secret = (
                f"kubectl create secret generic {{label}}-engine \\\n  {engine}\n"
                f"{secret} \\\n  {server}"
            )
            publishing = (
                "kubectl rollout status statefulset/{label}-engine\n"
                f"kubectl port-forward service/{{label}}-engine {store.port} &\n"
                f"{store.publish}\n"
            )
        return f"""
## Run it on Kubernetes

Put your registry into `kubernetes.yaml`, then:

```sh
docker build -t registry.example.com/{{name}}:1 .
docker push registry.example.com/{{name}}:1
{secret}
kubectl apply -f kubernetes.yaml
{publishing}```

Clients in the cluster reach it as `http://{{label}}`. In a namespace other than `default`, and
behind an Ingress, list the names that clients use in `ALLOWED_HOSTS` of the ConfigMap, and restart:
`kubectl rollout restart deployment/{{label}}`.
"""


class Fly(Target):
    """Fly.io."""

    name = "fly"
    platform = "Fly.io"
    files = ("fly.toml",)
    contents = (("fly.toml", "for Fly.io"),)
    section = """
## Run it on Fly.io

```sh
fly apps create {label}
echo "API_TOKENS=$API_TOKENS" | fly secrets import
fly deploy
```

It is reached at {label}.fly.dev. If that name is taken, choose another one in `fly.toml`, also in
`ALLOWED_HOSTS` and `PUBLIC_URL`. Add a domain of your own to both.
"""


class Render(Target):
    """Render."""

    name = "render"
    platform = "Render"
    files = ("render.yaml",)
    contents = (("render.yaml", "for Render"),)
    section = """
## Run it on Render

Make this folder a Git repository, push it, and choose "New > Blueprint" in the dashboard.
`render.yaml` does the rest: Render generates the token, which its dashboard shows, and its host
name is allowed. Before you add a domain of your own, give `ALLOWED_HOSTS` a `value` with both names
instead of `fromService`, because Render's health checks then use that domain.
"""


class Railway(Target):
    """Railway."""

    name = "railway"
    platform = "Railway"
    files = ("railway.json",)
    contents = (("railway.json", "for Railway"),)
    section = """
## Run it on Railway

```sh
railway init --name {name}
railway add --service {name}
railway domain
railway variables --set "API_TOKENS=$API_TOKENS" \\
  --set 'ALLOWED_HOSTS=${{{{RAILWAY_PUBLIC_DOMAIN}}}},healthcheck.railway.app' \\
  --set 'PUBLIC_URL=https://${{{{RAILWAY_PUBLIC_DOMAIN}}}}'
railway up
```

Railway fills in the domain of the service; its health checks use the second name. Add a domain of
your own to `ALLOWED_HOSTS`.
"""


class CloudRun(Target):
    """Google Cloud Run."""

    name = "cloud-run"
    platform = "Google Cloud Run"
    longest_name = 49
    files = ("cloud-run.yaml",)
    contents = (("cloud-run.yaml", "for Google Cloud Run"),)
    section = """
## Run it on Cloud Run

Put your region, project, its number and an Artifact Registry repository into `cloud-run.yaml` and
into these commands:

```sh
gcloud builds submit --tag REGION-docker.pkg.dev/PROJECT/REPOSITORY/{name}:1
printf %s "$API_TOKENS" | gcloud secrets create {label}-api-tokens --data-file=-
gcloud run services replace cloud-run.yaml --region REGION
gcloud run services add-iam-policy-binding {label} --region REGION \\
  --member allUsers --role roles/run.invoker
```

The account of the service needs the role Secret Manager Secret Accessor. The last command lets
everybody reach the server, whose tokens decide who may use it. `ALLOWED_HOSTS` has the address that
Cloud Run derives from name, project number and region; add a domain of your own. Google reserves
the path `/healthz`: from outside, use `/readyz`.
"""


class Systemd(Target):
    """A sandboxed unit."""

    name = "systemd"
    platform = "a sandboxed unit of systemd"
    runs_image = False
    files = ("name.service",)
    contents = (("{name}.service", "the unit for systemd"),)
    section = """
## Run it with systemd

```sh
sudo python3 -m venv /opt/{name}
sudo /opt/{name}/bin/pip install .
sudo install -m 600 .env.example /etc/{name}.env
sudo install -m 644 {name}.service /etc/systemd/system/
sudo systemctl enable --now {name}
```

It only listens on this machine. Before a reverse proxy opens it to others, set `API_TOKENS` and (to
the host name that the proxy passes on) `ALLOWED_HOSTS` in `/etc/{name}.env`, then run
`systemctl restart {name}`. The unit cannot see home folders: put an `INDEX_DIR` below `/srv`.
"""


class Procfile(Target):
    """Heroku, Dokku and others."""

    name = "procfile"
    platform = "Heroku, Dokku and others, without a container"
    runs_image = False
    files = ("Procfile",)
    contents = (("Procfile", "for Heroku, Dokku and others"),)
    section = """
## Run it where a Procfile is read

Heroku, Dokku and similar platforms install `requirements.txt` by its hashes, and run `Procfile` on
a port that they choose. Set these variables, then push this folder as a Git repository:

```sh
heroku config:set API_TOKENS="$API_TOKENS" ALLOWED_HOSTS=your-app.herokuapp.com
```

`ALLOWED_HOSTS` are the host names that clients use. Other platforms have their own command.
"""


TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Docker(),
        Compose(),
        Kubernetes(),
        Fly(),
        Render(),
        Railway(),
        CloudRun(),
        Systemd(),
        Procfile(),
    )
}
"""By their name in `[export] targets`."""
