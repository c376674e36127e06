import { confidentialTo, type RelayChannel } from '../views/channel-view.ts'
import { type CallbackSource, callbackSignature } from './callback-address.ts'
import type { TaskDeps } from './task-deps.ts'

/** Shorter texts are not redacted, because they match ordinary words. */
const LENGTH_MIN = 5
const DEPTH_MAX = 64

/**
 * Lists the texts that a caller must not read in a provider's answer about a task: the channel's
 * keys and hosts, and the signature of the callback address, because anyone who knows it could
 * report on the task.
 */
export const confidentialTexts = (
  deps: Pick<TaskDeps, 'vault'>,
  source: CallbackSource,
  channel: RelayChannel | undefined,
): readonly string[] => [
  ...(channel === undefined ? [] : confidentialTo(channel)),
  callbackSignature(deps, source),
]

/** Replaces these texts in JSON data at any depth. Addresses are texts like any other. */
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
 * Replaces the longest texts first, so that no remainder of a longer one stays. The text is cut
 * afterwards, because a part of a confidential text at the cut would not be recognised.
 */
export const redactText = (text: string, words: readonly string[]): string =>
  words
    .filter(({ length }) => length >= LENGTH_MIN)
    .toSorted((one, other) => other.length - one.length)
    .reduce((left, word) => left.replaceAll(word, '***'), text)
    .slice(0, TEXT_MAX)
    .toWellFormed()
