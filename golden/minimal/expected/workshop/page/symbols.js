"use strict";

// The TeX commands: symbols, functions, spaces, fonts and tables.

const pairsOf = (text) => Object.fromEntries(text.trim().split(/\s+/).map((pair) => [pair.slice(0, -1), pair.at(-1)]));

const LETTERS = pairsOf(`
  alphaα betaβ gammaγ deltaδ epsilonϵ varepsilonε zetaζ etaη thetaθ varthetaϑ iotaι kappaκ lambdaλ muμ nuν xiξ
  piπ varpiϖ rhoρ varrhoϱ sigmaσ varsigmaς tauτ upsilonυ phiϕ varphiφ chiχ psiψ omegaω GammaΓ DeltaΔ ThetaΘ
  LambdaΛ XiΞ PiΠ SigmaΣ UpsilonΥ PhiΦ PsiΨ OmegaΩ ellℓ hbarℏ Reℜ Imℑ alephℵ partial∂ nabla∇ infty∞ emptyset∅
  varnothing∅ imathı jmathȷ wp℘ top⊤ bot⊥ angle∠ triangle△ prime′ degree° checkmark✓ dagger† ddagger‡ S§ P¶
`);
const OPERATORS = pairsOf(`
  times× cdot· div÷ pm± mp∓ ast∗ star⋆ circ∘ bullet• oplus⊕ ominus⊖ otimes⊗ odot⊙ cup∪ cap∩ wedge∧ land∧ vee∨ lor∨
  neg¬ lnot¬ setminus∖ in∈ notin∉ ni∋ subset⊂ supset⊃ subseteq⊆ supseteq⊇ subsetneq⊊ leq≤ le≤ geq≥ ge≥ neq≠ ne≠ ll≪ gg≫
  approx≈ sim∼ simeq≃ cong≅ equiv≡ propto∝ prec≺ succ≻ preceq⪯ succeq⪰ parallel∥ perp⊥ mid∣ models⊨ vdash⊢
  to→ rightarrow→ leftarrow← gets← leftrightarrow↔ Rightarrow⇒ Leftarrow⇐ Leftrightarrow⇔ implies⟹ iff⟺
  longrightarrow⟶ longleftarrow⟵ Longrightarrow⟹ mapsto↦ longmapsto⟼ uparrow↑ downarrow↓ nearrow↗ searrow↘
  hookrightarrow↪ rightharpoonup⇀ leadsto⇝ forall∀ exists∃ nexists∄ ldots… dots… cdots⋯ vdots⋮ ddots⋱ dotsc… dotsb⋯
  colon: langle⟨ rangle⟩ lceil⌈ rceil⌉ lfloor⌊ rfloor⌋ lvert| rvert| vert| lVert‖ rVert‖ Vert‖ backslash\\ |‖ {{ }}
  triangleq≜ coloneqq≔ therefore∴ because∵ bigcirc◯ square□ Box□ blacksquare■ lesssim≲ gtrsim≳ upuparrows⇈ asymp≍ doteq≐ amalg⨿
`);
const LARGE = pairsOf(`
  sum∑ prod∏ coprod∐ int∫ iint∬ iiint∭ oint∮ bigcup⋃ bigcap⋂ bigoplus⨁ bigotimes⨂ bigvee⋁ bigwedge⋀ bigsqcup⨆
`);
const NAMES = new Set(`sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan log ln lg exp det dim ker deg
  arg hom gcd Pr max min sup inf lim limsup liminf argmax argmin`.split(/\s+/));
const UNDER = new Set("max min sup inf lim limsup liminf argmax argmin det gcd Pr".split(" "));
const ACCENTS = pairsOf("hat^ widehat^ bar¯ overline¯ vec→ overrightarrow→ tilde~ widetilde~ dot˙ ddot¨ check∨ breve˘ overbrace⏞");
const BELOW = pairsOf("underline_ underbrace⏟");
const SPACES = { ",": 0.17, ":": 0.22, ">": 0.22, ";": 0.28, "!": -0.17, " ": 0.33, quad: 1, qquad: 2, enspace: 0.5, thinspace: 0.17, "~": 0.33 };
const FONTS = {
  mathbb: "double-struck", mathcal: "script", mathscr: "script", mathfrak: "fraktur", mathbf: "bold", boldsymbol: "bold-italic",
  bm: "bold-italic", mathrm: "normal", mathsf: "sans-serif", mathtt: "monospace", mathit: "italic", mathop: "normal",
};
const TEXTS = new Set(["text", "textrm", "textbf", "textit", "texttt", "mbox", "operatorname", "operatorname*", "hbox"]);
const TABLES = {
  matrix: "", pmatrix: "()", bmatrix: "[]", Bmatrix: "{}", vmatrix: "||", Vmatrix: "‖‖", smallmatrix: "", cases: "{", array: "",
  aligned: "", align: "", "align*": "", split: "", gathered: "", gather: "", "gather*": "", equation: "", "equation*": "", eqnarray: "",
};
const LEFT = new Set(["aligned", "align", "align*", "split", "eqnarray"]);
const IGNORED = new Set("displaystyle textstyle scriptstyle limits nolimits nonumber notag hline big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr".split(" "));
// First code points of each font's letters; the exceptions are elsewhere in Unicode.
const ALPHABETS = {
  "double-struck": [0x1d538, 0x1d552, 0x1d7d8, { C: "ℂ", H: "ℍ", N: "ℕ", P: "ℙ", Q: "ℚ", R: "ℝ", Z: "ℤ" }],
  script: [0x1d49c, 0x1d4b6, 0, { B: "ℬ", E: "ℰ", F: "ℱ", H: "ℋ", I: "ℐ", L: "ℒ", M: "ℳ", R: "ℛ", e: "ℯ", g: "ℊ", o: "ℴ" }],
  fraktur: [0x1d504, 0x1d51e, 0, { C: "ℭ", H: "ℌ", I: "ℑ", R: "ℜ", Z: "ℨ" }],
  bold: [0x1d400, 0x1d41a, 0x1d7ce, {}],
  "bold-italic": [0x1d468, 0x1d482, 0x1d7ce, {}],
  "sans-serif": [0x1d5a0, 0x1d5ba, 0x1d7e2, {}],
  monospace: [0x1d670, 0x1d68a, 0x1d7f6, {}],
};
