import type { TimelineEntry } from '#read-api/contract/channel-timeline.ts'

/** Entries that follow one another and are of the same circuit, newest first; or a single one. */
export type EntryGroup = readonly [TimelineEntry, ...TimelineEntry[]]

/**
 * Folds each run of consecutive entries of one circuit, as a circuit that keeps opening fills pages
 * with them. What a person did always stands alone: it must not disappear among them.
 */
export function foldEntries(entries: readonly TimelineEntry[]): readonly EntryGroup[] {
  const groups: [TimelineEntry, ...TimelineEntry[]][] = []
  let previous: string | null = null
  for (const entry of entries) {
    const circuit = circuitOf(entry)
    const group = groups.at(-1)
    if (group !== undefined && circuit !== null && circuit === previous) group.push(entry)
    else groups.push([entry])
    previous = circuit
  }
  return groups
}

/** Null for what is not about a circuit, and for what a person did. */
function circuitOf({ kind, by, model, key }: TimelineEntry): string | null {
  if (!kind.startsWith('circuit-') || by !== null) return null
  return JSON.stringify([model ?? null, key === undefined ? 'all' : key])
}

export type FoldSummary = {
  readonly newest: TimelineEntry
  readonly oldest: TimelineEntry
  readonly openings: number
}

export function summaryOf(group: EntryGroup): FoldSummary {
  const [newest] = group
  return {
    newest,
    oldest: group.at(-1) ?? newest,
    openings: group.filter(({ kind }) => kind === 'circuit-opened').length,
  }
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

/** `12 min`, `3 hr`: how long something took, in its largest unit that it fills once. */
export function spanText(milliseconds: number, locale: string): string {
  const seconds = Math.max(1, Math.round(milliseconds / 1_000))
  const [unit, size] = UNITS.find(([, unitSeconds]) => seconds >= unitSeconds) ?? ['second', 1]
  const format = { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 0 } as const
  return new Intl.NumberFormat(locale, format).format(Math.round(seconds / size))
}
