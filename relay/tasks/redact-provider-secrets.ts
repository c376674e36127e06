import { confidentialTo, type RelayChannel } from '../views/channel-view.ts'
import { type CallbackSource, callbackSignature } from './callback-address.ts'
import type { TaskDeps } from './task-deps.ts'

/** The minimum length of a text to redact. Shorter texts would match ordinary words. */
const LENGTH_MIN = 5
const DEPTH_MAX = 64

/**
 * Lists the texts that are removed from a provider's answer: the channel's keys and hosts, and the
 * signature of the callback URL. With this signature, anyone could report on the task.
 */
export const confidentialTexts = (
  deps: Pick<TaskDeps, 'vault'>,
  source: CallbackSource,
  channel: RelayChannel | undefined,
): readonly string[] => [
  ...(channel === undefined ? [] : confidentialTo(channel)),
  callbackSignature(deps, source),
]

/** Redacts the texts in `words` in JSON data at any depth, including URLs and member names. */
export function redactTexts(value: unknown, words: readonly string[], depth = 0): unknown {
  if (typeof value === 'string') return redactText(value, words)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= DEPTH_MAX) return null
  if (Array.isArray(value)) return value.map((item) => redactTexts(item, words, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      redactText(key, words),
      redactTexts(item, words, depth + 1),
    ]),
  )
}

const TEXT_MAX = 16_384

/**
 * Redacts the texts in `words`, the longest first, so that no part of a longer text remains. The
 * result is shortened only afterwards, because an incomplete confidential text would not be
 * recognized.
 */
export const redactText = (text: string, words: readonly string[]): string =>
  words
    .filter(({ length }) => length >= LENGTH_MIN)
    .toSorted((one, other) => other.length - one.length)
    .reduce((left, word) => left.replaceAll(word, '***'), text)
    .slice(0, TEXT_MAX)
    .toWellFormed()
