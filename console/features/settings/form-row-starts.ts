type Kinds = readonly { readonly type: { readonly kind: string } }[]

/**
 * Returns the indexes of the options at which a new row of the form must start. These are the first
 * option and each change from switches to other fields or back, with one exception. A row contains
 * two switches, so half a row is free after an odd number of switches. If a single other field
 * follows the switches, it fills this free half.
 */
export function formRowStarts(options: Kinds): ReadonlySet<number> {
  const isFlag = (index: number) => options[index]?.type.kind === 'flag'
  const runs = options
    .map((_, index) => index)
    .filter((index) => index === 0 || isFlag(index) !== isFlag(index - 1))
  const lengthOf = (run: number) => (runs[run + 1] ?? options.length) - (runs[run] ?? 0)
  const isPaired = (run: number) =>
    !isFlag(runs[run] ?? 0) && run > 0 && lengthOf(run) === 1 && lengthOf(run - 1) % 2 === 1
  return new Set(runs.filter((_, run) => !isPaired(run)))
}
