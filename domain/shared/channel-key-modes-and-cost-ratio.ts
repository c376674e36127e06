/**
 * The rules that choose the key for a call. `random`: at random. `polling`: in rotation. The rule
 * is empty if the channel has only one key.
 */
export const KEY_MODES = ['', 'random', 'polling'] as const
export type KeyMode = (typeof KEY_MODES)[number]

/**
 * The maximum of the provider's price as a multiple of the list price. A greater multiple can only
 * be a typing error.
 */
export const COST_RATIO_MAX = 1_000
