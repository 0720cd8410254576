"""Names of the files with the inputs of BM25, for indexes that keep them."""

STATISTICS = "statistics"  # Their folder
POSTING_COUNTS = "postings.counts.npy"  # uint32 (p,): count of a term in its chunk
CHUNK_LENGTHS = "chunks.lengths.npy"  # uint32 (n,): number of terms of each chunk
MEAN_LENGTH = "mean_length.npy"  # float64 (1,): their mean
