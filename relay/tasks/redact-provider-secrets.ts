import { confidentialTo, type RelayChannel } from '../views/channel-view.ts'
import { type CallbackSource, callbackSignature } from './signed-callback-url.ts'
import type { TaskDeps } from './task-deps.ts'

/**
 * The minimum length of a confidential text. Shorter texts are not redacted, because they would
 * match ordinary words.
 */
const LENGTH_MIN = 5
const DEPTH_MAX = 64

/**
 * Returns the texts that are removed from a provider's response: the channel's keys and hosts, and
 * the signature of the callback URL. Anyone with this signature could send reports on the task.
 */
export const confidentialTexts = (
  deps: Pick<TaskDeps, 'vault'>,
  source: CallbackSource,
  channel: RelayChannel | undefined,
): readonly string[] => [
  ...(channel === undefined ? [] : confidentialTo(channel)),
  callbackSignature(deps, source),
]

/**
 * Replaces the texts in `confidential` with `***` in JSON data, including URLs and member names.
 * Data below the depth `DEPTH_MAX` becomes null.
 */
export function redactTexts(value: unknown, confidential: readonly string[], depth = 0): unknown {
  if (typeof value === 'string') return redactText(value, confidential)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= DEPTH_MAX) return null
  if (Array.isArray(value)) return value.map((item) => redactTexts(item, confidential, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      redactText(key, confidential),
      redactTexts(item, confidential, depth + 1),
    ]),
  )
}

const TEXT_MAX = 16_384

/**
 * Replaces the texts in `confidential` with `***`, the longest first, so that no part of a longer
 * text remains. The result is shortened only afterwards, because a confidential text that was cut
 * would not be recognized.
 */
export const redactText = (text: string, confidential: readonly string[]): string =>
  confidential
    .filter(({ length }) => length >= LENGTH_MIN)
    .toSorted((one, other) => other.length - one.length)
    .reduce((left, each) => left.replaceAll(each, '***'), text)
    .slice(0, TEXT_MAX)
    .toWellFormed()
