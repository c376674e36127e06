import { confidentialTo, type RelayChannel } from '../views/channel-view.ts'
import { markOf, type Notifier } from './notify-token.ts'
import type { TaskDeps } from './task-deps.ts'

/** Shorter ones are words like any other. */
const LENGTH_MIN = 5
const DEPTH_MAX = 64

/**
 * What a caller must not read in what a provider says of a task: the channel's keys and hosts, and
 * the mark by which it calls back; whoever knows that could report on the task.
 */
export const hiddenWords = (
  deps: Pick<TaskDeps, 'vault'>,
  notifier: Notifier,
  channel: RelayChannel | undefined,
): readonly string[] => [
  ...(channel === undefined ? [] : confidentialTo(channel)),
  markOf(deps, notifier),
]

/** JSON data without them, in whatever depth: texts alone are changed, addresses are left. */
export function withoutWords(value: unknown, words: readonly string[], depth = 0): unknown {
  if (typeof value === 'string') return textWithout(value, words)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= DEPTH_MAX) return null
  if (Array.isArray(value)) return value.map((item) => withoutWords(item, words, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      textWithout(key, words),
      withoutWords(item, words, depth + 1),
    ]),
  )
}

const TEXT_MAX = 16_384

/**
 * The longest first, lest a part of it is all that goes. Cut only afterwards: a part of a word at
 * the cut would stay.
 */
export const textWithout = (text: string, words: readonly string[]): string =>
  words
    .filter(({ length }) => length >= LENGTH_MIN)
    .toSorted((one, other) => other.length - one.length)
    .reduce((left, word) => left.replaceAll(word, '***'), text)
    .slice(0, TEXT_MAX)
    .toWellFormed()
