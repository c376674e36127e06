/** The highest number of losses that are collected. A caller's request may have any number. */
const LOSSES_MAX = 100

/** Adds the path of a loss. Losses beyond `LOSSES_MAX` are dropped. */
export function addLoss(losses: string[], path: string): void {
  if (losses.length < LOSSES_MAX) losses.push(path)
}
