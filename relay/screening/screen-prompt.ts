import { setImmediate as turn } from 'node:timers/promises'
import { type Denial, deny } from '#relay/canonical/denial.ts'
import type { Screening } from './screening.ts'
import { MATCH_START, MATCHED, type WordMatcher } from './word-matcher.ts'

/** Characters looked at in one go: the loop must not stand still for a long text. */
const PIECE = 256 * 1024
/** Between two texts of a request, so that no word is found across them. */
const BREAK = '\n'

/**
 * Refuses a request with a word in it that is not let through: in any text that it gives, keys and
 * data addresses aside. The words themselves are not repeated to the caller. null at once, with
 * nothing to wait for, where nobody looks.
 */
export function screenPrompt(
  { matcher, isPromptChecked, exemptGroup }: Screening,
  group: string,
  body: Buffer,
  param = 'messages',
): Promise<Denial | null> | null {
  if (matcher === null || !isPromptChecked || group === exemptGroup) return null
  return look(matcher, body, param)
}

async function look(matcher: WordMatcher, body: Buffer, param: string): Promise<Denial | null> {
  const texts: string[] = []
  gather(JSON.parse(body.toString('utf8')), texts)
  const isFound = await isIn(matcher, texts.join(BREAK))
  return isFound ? deny('sensitive_prompt', { param }) : null
}

async function isIn(matcher: WordMatcher, text: string): Promise<boolean> {
  let state = MATCH_START
  for (let from = 0; from < text.length; from += PIECE) {
    if (from > 0) await turn()
    state = matcher.feed(state, text.slice(from, from + PIECE))
    if (state === MATCHED) return true
  }
  return false
}

/** Bytes of an image or a sound; anything else that begins alike is text. */
const DATA_URL = /^data:[\w.+-]+\/[\w.+-]+(;[\w.+-]+=[\w.+-]+){0,4};base64,[\w+/=-]*$/i

function gather(value: unknown, texts: string[]): void {
  if (typeof value === 'string') {
    if (!DATA_URL.test(value)) texts.push(value)
  } else if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) gather(member, texts)
  }
}
