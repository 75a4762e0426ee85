"""What the pages lean on: each source once, cited alike in both languages."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """One source: who, what, where."""

    authors: str
    year: int
    title: str
    url: str
    place: str = ""

    @property
    def citation(self) -> str:
        """The source as one line of Markdown."""
        place = f", {self.place}" if self.place else ""
        return f"{self.authors} ({self.year}), [{self.title}]({self.url}){place}."


SOURCES = {
    "vaswani2017": Source(
        "Vaswani et al.",
        2017,
        "Attention Is All You Need",
        "https://arxiv.org/abs/1706.03762",
        "§3.5, table 3 row (E)",
    ),
    "lee2019": Source(
        "Lee et al.",
        2019,
        "Set Transformer: A Framework for Attention-based Permutation-Invariant Neural Networks",
        "https://arxiv.org/abs/1810.00825",
        "§3",
    ),
    "elman1990": Source(
        "Elman", 1990, "Finding Structure in Time", "https://doi.org/10.1207/s15516709cog1402_1"
    ),
    "haviv2022": Source(
        "Haviv et al.",
        2022,
        "Transformer Language Models without Positional Encodings Still Learn Positional Information",
        "https://arxiv.org/abs/2203.16634",
        "tables 1 and 2",
    ),
    "press2022": Source(
        "Press, Smith, Lewis",
        2022,
        "Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation",
        "https://arxiv.org/abs/2108.12409",
        "table 2",
    ),
    "wang2024": Source(
        "Wang et al.",
        2024,
        "Multilingual E5 Text Embeddings: A Technical Report",
        "https://arxiv.org/abs/2402.05672",
    ),
    "vaswani2017input": Source(
        "Vaswani et al.",
        2017,
        "Attention Is All You Need",
        "https://arxiv.org/abs/1706.03762",
        "§3.4 (×√d_model), §5.4 (dropout of the sums, rate 0.1)",
    ),
    "srivastava2014": Source(
        "Srivastava et al.",
        2014,
        "Dropout: A Simple Way to Prevent Neural Networks from Overfitting",
        "https://jmlr.org/papers/v15/srivastava14a.html",
    ),
    "wang2020": Source(
        "Wang et al.",
        2020,
        "MiniLM: Deep Self-Attention Distillation for Task-Agnostic Compression of Pre-Trained Transformers",
        "https://arxiv.org/abs/2002.10957",
    ),
    "radford2022": Source(
        "Radford et al.",
        2022,
        "Robust Speech Recognition via Large-Scale Weak Supervision",
        "https://arxiv.org/abs/2212.04356",
        "Whisper",
    ),
    "schwaller2021": Source(
        "Schwaller et al.",
        2021,
        "Extraction of Organic Chemistry Grammar from Unsupervised Learning of Chemical Reactions",
        "https://doi.org/10.1126/sciadv.abe4166",
        "RXNMapper",
    ),
    "gehring2017": Source(
        "Gehring et al.",
        2017,
        "Convolutional Sequence to Sequence Learning",
        "https://arxiv.org/abs/1705.03122",
        "§3.1 (learned positions)",
    ),
    "shaw2018": Source(
        "Shaw, Uszkoreit, Vaswani",
        2018,
        "Self-Attention with Relative Position Representations",
        "https://arxiv.org/abs/1803.02155",
        "§3",
    ),
    "raffel2020": Source(
        "Raffel et al.",
        2020,
        "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer",
        "https://arxiv.org/abs/1910.10683",
        "§2.1",
    ),
    "carion2020": Source(
        "Carion et al.",
        2020,
        "End-to-End Object Detection with Transformers",
        "https://arxiv.org/abs/2005.12872",
    ),
    "tancik2020": Source(
        "Tancik et al.",
        2020,
        "Fourier Features Let Networks Learn High Frequency Functions in Low Dimensional Domains",
        "https://arxiv.org/abs/2006.10739",
    ),
    "dosovitskiy2021": Source(
        "Dosovitskiy et al.",
        2021,
        "An Image is Worth 16x16 Words: Transformers for Image Recognition at Scale",
        "https://arxiv.org/abs/2010.11929",
        "appendix D.4",
    ),
    "jaegle2021": Source(
        "Jaegle et al.",
        2021,
        "Perceiver: General Perception with Iterative Attention",
        "https://arxiv.org/abs/2103.03206",
        "§3.2",
    ),
    "liu2021": Source(
        "Liu et al.",
        2021,
        "Swin Transformer: Hierarchical Vision Transformer using Shifted Windows",
        "https://arxiv.org/abs/2103.14030",
        "§3.2",
    ),
    "he2021": Source(
        "He et al.",
        2021,
        "DeBERTa: Decoding-enhanced BERT with Disentangled Attention",
        "https://arxiv.org/abs/2006.03654",
        "§3.1",
    ),
    "su2021": Source(
        "Su et al.",
        2021,
        "RoFormer: Enhanced Transformer with Rotary Position Embedding",
        "https://arxiv.org/abs/2104.09864",
        "§3.2",
    ),
    "he2022": Source(
        "He et al.",
        2022,
        "Masked Autoencoders Are Scalable Vision Learners",
        "https://arxiv.org/abs/2111.06377",
    ),
    "liu2022": Source(
        "Liu et al.",
        2022,
        "Swin Transformer V2: Scaling Up Capacity and Resolution",
        "https://arxiv.org/abs/2111.09883",
        "§3.3",
    ),
    "press2022alibi": Source(
        "Press, Smith, Lewis",
        2022,
        "Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation",
        "https://arxiv.org/abs/2108.12409",
        "§3",
    ),
    "chi2022": Source(
        "Chi et al.",
        2022,
        "KERPLE: Kernelized Relative Positional Embedding for Length Extrapolation",
        "https://arxiv.org/abs/2205.09921",
    ),
    "sun2022": Source(
        "Sun et al.",
        2022,
        "A Length-Extrapolatable Transformer",
        "https://arxiv.org/abs/2212.10554",
        "xPos",
    ),
    "chi2023": Source(
        "Chi et al.",
        2023,
        "Dissecting Transformer Length Extrapolation via the Lens of Receptive Field Analysis",
        "https://arxiv.org/abs/2212.10356",
        "Sandwich",
    ),
    "chen2023": Source(
        "Chen et al.",
        2023,
        "Extending Context Window of Large Language Models via Positional Interpolation",
        "https://arxiv.org/abs/2306.15595",
        "§3.2",
    ),
    "bloc97": Source(
        "bloc97",
        2023,
        "NTK-Aware Scaled RoPE allows LLaMA models to have extended (8k+) context size",
        "https://www.reddit.com/r/LocalLLaMA/comments/14lz7j5/",
    ),
    "emozilla2023": Source(
        "emozilla",
        2023,
        "Dynamically Scaled RoPE further increases performance of long context LLaMA with zero fine-tuning",
        "https://www.reddit.com/r/LocalLLaMA/comments/14mrgpr/",
    ),
    "peng2023": Source(
        "Peng et al.",
        2023,
        "YaRN: Efficient Context Window Extension of Large Language Models",
        "https://arxiv.org/abs/2309.00071",
        "§3",
    ),
    "kazemnejad2023": Source(
        "Kazemnejad et al.",
        2023,
        "The Impact of Positional Encoding on Length Generalization in Transformers",
        "https://arxiv.org/abs/2305.19466",
    ),
    "li2024": Source(
        "Li et al.",
        2024,
        "Functional Interpolation for Relative Positions Improves Long Context Transformers",
        "https://arxiv.org/abs/2310.04418",
        "FIRE",
    ),
    "ding2024": Source(
        "Ding et al.",
        2024,
        "LongRoPE: Extending LLM Context Window Beyond 2 Million Tokens",
        "https://arxiv.org/abs/2402.13753",
        "§3",
    ),
    "meta2024": Source(
        "Meta",
        2024,
        "Llama 3.1, reference code",
        "https://github.com/meta-llama/llama-models",
        "apply_scaling",
    ),
    "heo2024": Source(
        "Heo et al.",
        2024,
        "Rotary Position Embedding for Vision Transformer",
        "https://arxiv.org/abs/2403.13298",
        "§3",
    ),
    "wang2024qwen": Source(
        "Wang et al.",
        2024,
        "Qwen2-VL: Enhancing Vision-Language Model's Perception of the World at Any Resolution",
        "https://arxiv.org/abs/2409.12191",
        "§2.1",
    ),
    "yang2024": Source(
        "Yang et al.",
        2024,
        "CogVideoX: Text-to-Video Diffusion Models with An Expert Transformer",
        "https://arxiv.org/abs/2408.06072",
    ),
    "wang2024precision": Source(
        "Wang et al.",
        2024,
        "When Precision Meets Position: BFloat16 Breaks Down RoPE in Long-Context Training",
        "https://arxiv.org/abs/2411.13476",
    ),
    "barbero2025": Source(
        "Barbero et al.",
        2025,
        "Round and Round We Go! What makes Rotary Positional Encodings useful?",
        "https://arxiv.org/abs/2410.06205",
        "propositions 3.1 and 3.2, §6.1",
    ),
    "cbcase2023": Source(
        "cbcase",
        2023,
        "RotaryEmbedding computation is wrong for certain position/feature pairs in reduced precision",
        "https://github.com/EleutherAI/gpt-neox/issues/1003",
        "EleutherAI/gpt-neox, issue 1003",
    ),
    "fecet2023": Source(
        "fecet",
        2023,
        "fix rope precision bug",
        "https://github.com/EleutherAI/gpt-neox/pull/1016",
        "EleutherAI/gpt-neox, pull request 1016",
    ),
    "hanchen2024": Source(
        "danielhanchen",
        2024,
        "RoPE loses precision for Llama / Gemma",
        "https://github.com/huggingface/transformers/pull/29285",
        "huggingface/transformers, pull request 29285",
    ),
    "toddwbucy2026": Source(
        "toddwbucy",
        2026,
        "qwen2: build RoPE cos/sin tables in fp32 (fixes long-context divergence)",
        "https://github.com/huggingface/candle/pull/3520",
        "huggingface/candle, pull request 3520",
    ),
    "dxqb2026": Source(
        "dxqb",
        2026,
        "Ideogram4MRoPE breaks under torch.autocast: all image positions collapse",
        "https://github.com/huggingface/diffusers/issues/13920",
        "huggingface/diffusers, issue 13920",
    ),
    "brnguyen2026": Source(
        "brnguyen2",
        2026,
        "Pin the float32 precision of the attention-plugin rotary table",
        "https://github.com/NVIDIA/TensorRT-LLM/pull/18774",
        "NVIDIA/TensorRT-LLM, pull request 18774",
    ),
    "kornblith2019": Source(
        "Kornblith et al.",
        2019,
        "Similarity of Neural Network Representations Revisited",
        "https://arxiv.org/abs/1905.00414",
        "§3 (linear CKA)",
    ),
}
