import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { HASH_COSTS } from '#infra/vault/password-hash.ts'
import { createPasswordPool } from '#infra/vault/password-pool.ts'
import { VaultBusy } from '#infra/vault/port.ts'
import { REAL_HASH_COSTS } from '#test/support/cheap-password-hashes.ts'

const cheapCosts = { ...HASH_COSTS }
Object.assign(HASH_COSTS, REAL_HASH_COSTS)
// The costs are reset, because later test files run in the same process.
afterAll(() => void Object.assign(HASH_COSTS, cheapCosts))
const passwords = createPasswordPool()

describe('password hashes', () => {
  it('are salted PHC strings of argon2id with 19 MiB, 2 passes and 1 lane', async () => {
    const [one, two] = await Promise.all([
      passwords.hashPassword('correct horse'),
      passwords.hashPassword('correct horse'),
    ])
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
    expect(one).not.toBe(two)
    expect(await passwords.verifyPassword('correct horse', one)).toBe(true)
    expect(await passwords.verifyPassword('correct horsf', one)).toBe(false)
  })

  it('depend on every byte of 128 characters in any script', async () => {
    const passphrase = '🔑'.repeat(128)
    const hash = await passwords.hashPassword(passphrase)
    expect(await passwords.verifyPassword(passphrase, hash)).toBe(true)
    expect(await passwords.verifyPassword(`${'🔑'.repeat(127)}🔒`, hash)).toBe(false)
    expect(await passwords.verifyPassword(`${passphrase}x`, hash)).toBe(false)
  })

  it('do not match a string in another format', async () => {
    expect(await passwords.verifyPassword('x', 'plain')).toBe(false)
    expect(await passwords.verifyPassword('x', '$argon2id$v=19$m=8,t=1,p=1$$')).toBe(false)
  })

  it('run two at a time with 32 waiting, refuse more, and keep the event loop free', async () => {
    let turns = 0
    let isOver = false
    const spin = (async () => {
      while (!isOver) {
        await nextTurn()
        turns += 1
      }
    })()
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, () => passwords.hashPassword('flood')),
    )
    isOver = true
    await spin
    const refused = outcomes.filter(({ status }) => status === 'rejected')
    expect(refused).toHaveLength(50 - 34)
    for (const { reason } of refused as PromiseRejectedResult[]) {
      expect(reason).toBeInstanceOf(VaultBusy)
    }
    expect(turns).toBeGreaterThan(100)
  })
})
