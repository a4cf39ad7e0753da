/** A network has a graph for requests without history and one for those with it: the first pays for no empty past. */
export const GRAPH_VARIANTS = ['base', 'history'] as const;
export type GraphVariant = (typeof GRAPH_VARIANTS)[number];
