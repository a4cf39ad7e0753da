/** A network has a graph for requests without history and one for those with it: the first pays for no empty past. */
export const GRAPH_VARIANTS = ['base', 'history'] as const;
export type GraphVariant = (typeof GRAPH_VARIANTS)[number];

/** What runs together: requests of one graph, and those that are to be explained. */
export const BATCH_VARIANTS = [...GRAPH_VARIANTS, 'explain'] as const;
export type BatchVariant = (typeof BATCH_VARIANTS)[number];
