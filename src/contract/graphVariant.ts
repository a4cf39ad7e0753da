/** The variants of the graph that batches run in. */

/**
 * A network has one graph for requests without history and one for those with it, so that the former don't pay for an
 * empty past.
 */
export const GRAPH_VARIANTS = ['base', 'history'] as const;
export type GraphVariant = (typeof GRAPH_VARIANTS)[number];

/** Requests that can share a batch: those of one graph, and explained ones. */
export const BATCH_VARIANTS = [...GRAPH_VARIANTS, 'explain'] as const;
export type BatchVariant = (typeof BATCH_VARIANTS)[number];
