import { randomInt } from 'node:crypto'
import { ACCOUNT_LIMITS } from '../users/account-limits.ts'

const MAX = ACCOUNT_LIMITS.usernameCharacters
const TRIES = 12

/**
 * Names to try for a newcomer, best first: what the provider calls them, as far as it can be a
 * name here, and then with digits. Never longer than names may be.
 */
export function* usernamesFor(theirs: string, fallback: string): Generator<string> {
  const base = cleaned(theirs)
  if (base !== '') yield base
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    // More digits the longer nothing is free.
    const digits = String(randomInt(10 ** (4 + Math.min(attempt, 3)))).padStart(4, '0')
    const stem = base === '' ? fallback : base
    yield [...stem].slice(0, MAX - digits.length).join('') + digits
  }
}

/** Of an address of mail, only what stands before the `@`: the rest is nobody's business. */
function cleaned(theirs: string): string {
  const [name = ''] = theirs.normalize('NFKC').split('@')
  const characters = [...name.replace(/[\s\p{C}]/gu, '')]
  return characters.slice(0, MAX).join('')
}
