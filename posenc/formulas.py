"""The formulas that the pages show, in LaTeX: never translated, each beside the code that computes it."""

import math

SINUSOID = (
    r"\begin{aligned}"
    r"\mathrm{PE}(p,\,2i)&=\sin\!\left(p\,/\,\mathrm{base}^{\,2i/d_{\mathrm{model}}}\right)\\"
    r"\mathrm{PE}(p,\,2i+1)&=\cos\!\left(p\,/\,\mathrm{base}^{\,2i/d_{\mathrm{model}}}\right)"
    r"\end{aligned}"
)
SHIFT = r"\mathrm{PE}(p+k)=M_k\,\mathrm{PE}(p)"
SHIFT_MATRIX = (
    r"M_k=\bigoplus_i\begin{pmatrix}\cos k\omega_i&\sin k\omega_i\\"
    r"-\sin k\omega_i&\cos k\omega_i\end{pmatrix}"
)
ATTENTION = r"\mathrm{Attention}(Q,K,V)=\mathrm{softmax}\!\left(\frac{QK^{\top}}{\sqrt{d_k}}\right)V"
# P reorders rows: the same on both sides, and 1/n · 1ᵀ (the mean over the rows) takes it away.
EQUIVARIANCE = r"\mathrm{Attention}(P X)=P\,\mathrm{Attention}(X)"
INPUT = r"x_t=\mathrm{dropout}\bigl(\sqrt{d_{\mathrm{model}}}\;e(w_t)+\mathrm{PE}(t)\bigr)"
MOVED = ("PE(p)", "M_k·PE(p)", "PE(p+k)")  # in a figure, where LaTeX is not read
ROTARY_RATE = r"\theta_i(p)=p\,\omega_i,\qquad\omega_i=\mathrm{base}^{-2i/D},\qquad i=0,\dots,D/2-1"
DOT = r"s(p,q)=\mathrm{PE}(p)\cdot\mathrm{PE}(q)=\sum_i\cos\bigl((p-q)\,\omega_i\bigr)"
LEARNED = r"\mathrm{PE}(p)=W_p,\qquad W\in\mathbb{R}^{\,\mathrm{max\_len}\times d_{\mathrm{model}}}"
ROTARY_SCORE = (
    r"\langle R_p\,q,\;R_{p'}\,k\rangle=\sum_i|q_i|\,|k_i|\,\cos\bigl((p-p')\,\omega_i+\varphi_i\bigr)"
)
# Of tables, of a query and a key of ones, of a bias.
COMPARED = (
    r"s(i,j)=\begin{cases}\mathrm{PE}(i)\cdot\mathrm{PE}(j)&\text{table}\\"
    r"\langle R_i\mathbf 1,\,R_j\mathbf 1\rangle&\text{rotary}\\b_h(i,j)&\text{bias}\end{cases}"
)
BIASED = r"w_h(i,j)=\mathrm{softmax}_j\Bigl(\frac{q_i\cdot k_j}{\sqrt d}+b_h(i,j)\Bigr)"
# r(x): the number of a format of t digits that is nearest to x; then what is rounded at each stage.
ROUNDING = r"|\mathrm{r}(x)-x|\;\le\;\tfrac12\cdot 2^{\lfloor\log_2|x|\rfloor+1-t}"
ROUNDED = {
    "chain": r"\mathrm{r}\Bigl(\sin\,\mathrm{r}\bigl(\mathrm{r}(p)\;\mathrm{r}(\omega_i)\bigr)\Bigr)",
    "angle": r"\sin\,\mathrm{r}(p\,\omega_i)",
    "position": r"\sin\bigl(\mathrm{r}(p)\,\omega_i\bigr)",
    "table": r"\mathrm{r}\bigl(\sin(p\,\omega_i)\bigr)",
}


# A grid: y down, x across, c = (y, x); k_i a wave vector, n cells on an axis, o the number of a new one.
GRID = (
    r"\begin{aligned}\mathrm{PE}(y,x)&=\bigl[\,s(x)\;\big|\;s(y)\,\bigr]\\"
    r"s(c)&=\bigl[\sin c\,\omega_i\;\big|\;\cos c\,\omega_i\bigr],\quad "
    r"\omega_i=\mathrm{base}^{\,-4i/d_{\mathrm{model}}}\end{aligned}"
)
GRID_SIMILARITY = r"\mathrm{PE}(c)\cdot\mathrm{PE}(c')=\sum_i\cos\bigl(k_i\cdot(c-c')\bigr)"
RESIZED_CELL = r"x=\left(o+\tfrac12\right)\frac{n_{\mathrm{old}}}{n_{\mathrm{new}}}-\tfrac12"
AXIAL_ROTARY = (
    r"\begin{aligned}q_i&\to q_i\,e^{\,\mathrm i\,y\,\omega_i}\\"
    r"q_{m+i}&\to q_{m+i}\,e^{\,\mathrm i\,x\,\omega_i}\end{aligned}"
    r"\qquad 0\le i<m=\tfrac{d_{\mathrm{head}}}{4}"
)


def rotation(pair: int, k: int, angle: float) -> str:
    """Write the block of M_k that turns one pair by `angle` = k·ω_i, in numbers."""
    cos, sin = math.cos(angle), math.sin(angle)
    return (
        rf"\begin{{gathered}}{k}\,\omega_{{{pair}}}={angle:.4g}\ \mathrm{{rad}}\\"
        rf"\begin{{pmatrix}}{cos:.4f}&{sin:.4f}\\{-sin:.4f}&{cos:.4f}\end{{pmatrix}}\end{{gathered}}"
    )
