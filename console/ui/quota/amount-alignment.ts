/** Returns the number of decimals of an amount such as `+$1,234.50`. */
export function decimalsOf(text: string): number {
  return /\.(\d+)$/.exec(text)?.[1]?.length ?? 0
}

/**
 * Returns an invisible text that is appended to an amount, so that the amounts of a column align at
 * the decimal point. The text consists of the zeros, and if necessary the decimal point, that give
 * the amount `most` decimals. Returns undefined if the amount already has at least `most` decimals.
 */
export function alignmentPadding(decimals: number, most: number): string | undefined {
  if (decimals >= most) return undefined
  return `${decimals === 0 ? '.' : ''}${'0'.repeat(most - decimals)}`
}

/** Keeps track of the maximum number of decimals among the amounts of a column. */
export class AmountAlignment {
  private readonly amounts = new Map<number, number>()
  private readonly listeners = new Set<() => void>()
  private readonly keepsMost: boolean

  /** If `keepsMost` is true, the maximum does not decrease when amounts are removed. */
  constructor(keepsMost: boolean) {
    this.keepsMost = keepsMost
  }

  /** Returns the maximum number of decimals. */
  readonly most = (): number => Math.max(0, ...this.amounts.keys())

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  /**
   * Adds an amount. Returns a function that removes this amount, or undefined if `keepsMost` is
   * true.
   */
  readonly add = (decimals: number): (() => void) | undefined => {
    this.change(decimals, 1)
    return this.keepsMost ? undefined : () => this.change(decimals, -1)
  }

  private change(decimals: number, by: 1 | -1): void {
    const before = this.most()
    const count = (this.amounts.get(decimals) ?? 0) + by
    if (count > 0) this.amounts.set(decimals, count)
    else this.amounts.delete(decimals)
    if (this.most() !== before) for (const listener of this.listeners) listener()
  }
}
