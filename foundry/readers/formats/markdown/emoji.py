# ruff: noqa: RUF001 (signs that look like others are meant)
"""Emoji and icons that are written by name, as on GitHub: `:warning:`."""

import re

_NAMES = """
+1 👍 arrow_down ⬇️ arrow_left ⬅️ arrow_right ➡️ arrow_up ⬆️ art 🎨
bangbang ‼️ blue_heart 💙 book 📖 bookmark 🔖 books 📚 boom 💥 bug 🐛
bulb 💡 calendar 📅 chart_with_upwards_trend 📈 checkered_flag 🏁
clap 👏 computer 💻 construction 🚧 email 📧 exclamation ❗ eyes 👀
fire 🔥 gear ⚙️ gem 💎 gift 🎁 globe_with_meridians 🌐 grin 😁 hammer 🔨
heart ❤️ heavy_check_mark ✔️ hourglass ⌛ house 🏠
information_source ℹ️ key 🔑 link 🔗 lock 🔒 mag 🔍 memo 📝 muscle 💪
no_entry ⛔ ok 🆗 package 📦 page_facing_up 📄 pencil 📝 point_down 👇
point_right 👉 pray 🙏 pushpin 📌 question ❓ recycle ♻️ robot 🤖
rocket 🚀 rotating_light 🚨 sleeping 😴 slightly_smiling_face 🙂
smile 😄 smiley 😃 snake 🐍 sparkles ✨ speech_balloon 💬 star ⭐
stop_sign 🛑 tada 🎉 thinking 🤔 thumbsdown 👎 thumbsup 👍 trophy 🏆
warning ⚠️ wave 👋 white_check_mark ✅ wink 😉 wrench 🔧 x ❌ zap ⚡
"""
EMOJI = dict(zip(_NAMES.split()[::2], _NAMES.split()[1::2], strict=True))
"""The characters of emoji, by name."""
_CROSSES = frozenset(("close", "times", "x", "xmark"))
ICON = re.compile(
    r"(?<![\w:]):(?:((?:material|fontawesome|octicons|simple)[/-][\w/-]{1,80}+)|octocat"
    r"|(\+1|[a-z][a-z_]{0,30}+)):(?![\w:])(?:\{[^{}\n]{0,100}+\})?"
)


def sign_of(icon: re.Match[str]) -> str | None:
    """Return an emoji, or the mark of an icon that says yes or no; "" for other icons."""
    if icon[2]:
        return EMOJI.get(icon[2])
    words = set(re.split("[/-]", icon[1] or ""))
    return "\u2713" if "check" in words else "\u2717" if words & _CROSSES else ""
