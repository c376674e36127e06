import type { Logger } from 'pino'

const EVERY_MS = 10_000

type Told = { at: number; unsaid: number }

const told = new WeakMap<Logger, Map<string, Told>>()

/**
 * For what comes again and again while something is away: a warning at once, then at most one
 * every ten seconds with the number of those in between (`unsaid`, told at level debug), so that
 * the line that matters does not drown.
 */
export function warnThrottled(
  log: Logger,
  facts: Readonly<Record<string, unknown>>,
  words: string,
) {
  const byWords = told.get(log) ?? new Map<string, Told>()
  told.set(log, byWords)
  const last = byWords.get(words)
  const now = performance.now()
  if (last !== undefined && now - last.at < EVERY_MS) {
    last.unsaid += 1
    log.debug(facts, words)
    return
  }
  byWords.set(words, { at: now, unsaid: 0 })
  const { unsaid = 0 } = last ?? {}
  log.warn(unsaid === 0 ? facts : { ...facts, unsaid }, words)
}

/** Why, without the stack: it is not our program that is at fault. */
export const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message || error.name : String(error)
