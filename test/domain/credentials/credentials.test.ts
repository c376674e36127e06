import { describe, expect, it } from 'vitest'
import {
  type AddPasskey,
  type CredentialsCommand,
  credentialsDecider,
} from '#domain/credentials/decide.ts'
import type { CredentialsEvent } from '#domain/credentials/events.ts'
import { codedError } from '#domain/shared/coded-error.ts'
import type { Sealed } from '#domain/shared/event.ts'
import { specificationOf } from '#test/support/given-when-then.ts'

const { given } = specificationOf(credentialsDecider)
const sealed = (text: string): Sealed => text as Sealed
const of = { userId: 7 }

const totpOn: CredentialsEvent = {
  type: 'TotpEnabled',
  v: 1,
  data: { ...of, secretRef: 'ref-1', step: 100 },
}
const codes = (...codeHashes: string[]): CredentialsEvent => ({
  type: 'RecoveryCodesReplaced',
  v: 1,
  data: { ...of, codeHashes },
})
const key = (credentialHash: string, counter = 3) =>
  ({ ...of, name: sealed('n'), credential: sealed('c'), credentialHash, counter }) as const
const added = (passkeyId: number, counter = 3): CredentialsEvent => ({
  type: 'PasskeyAdded',
  v: 1,
  data: { passkeyId, ...key(`h${passkeyId}`, counter) },
})
const add = (hash: string): AddPasskey => ({ type: 'AddPasskey', ...key(hash), codeHashes: ['a'] })
const removed = (passkeyId: number): CredentialsEvent => ({
  type: 'PasskeyRemoved',
  v: 1,
  data: { ...of, passkeyId },
})

describe('authenticator app codes', () => {
  const enable = {
    type: 'EnableTotp',
    ...of,
    secretRef: 'ref-1',
    step: 100,
    codeHashes: ['a', 'b'],
  } as const

  it('are enabled with recovery codes if the user has no other second factor', () => {
    given()
      .when(enable)
      .then([totpOn, codes('a', 'b')])
    given(added(1), codes('c')).when(enable).then([totpOn])
    given(totpOn, codes('a')).when(enable).then([])
    const other = { ...enable, secretRef: 'ref-2' }
    given(totpOn).when(other).then(codedError('TotpAlreadyOn'))
  })

  it('can be used once each, and never after a later code was used', () => {
    const take = (step: number): CredentialsCommand => ({ type: 'UseTotpStep', ...of, step })
    const used = { type: 'TotpStepUsed', v: 1, data: { ...of, step: 101 } } as const
    given(totpOn).when(take(101)).then([used])
    for (const step of [99, 100, 101])
      given(totpOn, used).when(take(step)).then(codedError('CodeUsed'))
    given().when(take(101)).then(codedError('CodeWrong'))
  })

  it('remove the recovery codes when they are disabled, unless a passkey remains', () => {
    const disable = { type: 'DisableTotp', ...of } as const
    const off = { type: 'TotpDisabled', v: 1, data: of } as const
    given(totpOn, codes('a')).when(disable).then([off, codes()])
    given(totpOn, codes('a'), added(1)).when(disable).then([off])
    given().when(disable).then([])
  })
})

describe('recovery codes', () => {
  it('can be used once each, and can be replaced only if a second factor exists', () => {
    const take = { type: 'UseRecoveryCode', ...of, codeHash: 'a' } as const
    const used = { type: 'RecoveryCodeUsed', v: 1, data: { ...of, codeHash: 'a' } } as const
    given(totpOn, codes('a', 'b')).when(take).then([used])
    given(totpOn, codes('a', 'b'), used).when(take).then(codedError('CodeWrong'))
    const replace = { type: 'ReplaceRecoveryCodes', ...of, codeHashes: ['z'] } as const
    given(totpOn, codes('a'))
      .when(replace)
      .then([codes('z')])
    given().when(replace).then(codedError('NoSecondFactor'))
  })
})

describe('passkeys', () => {
  it('have ids that are never reused, are registered once each, and number at most 20', () => {
    const second: CredentialsEvent = {
      type: 'PasskeyAdded',
      v: 1,
      data: { passkeyId: 2, ...key('h1') },
    }
    given(added(1), removed(1))
      .when(add('h1'))
      .then([second, codes('a')])
    given(added(1), codes('a')).when(add('h1')).then(codedError('PasskeyKnown'))
    const many = Array.from({ length: 20 }, (_, n) => added(n + 1))
    const full = codedError('TooManyPasskeys', { limit: 20 } as const)
    given(...many)
      .when(add('one more'))
      .then(full)
  })

  it('must have a higher counter at each use, unless the counter is always 0', () => {
    const take = (counter: number) =>
      ({ type: 'UsePasskey', ...of, passkeyId: 1, counter }) as const
    const used = (counter: number): CredentialsEvent => ({
      type: 'PasskeyUsed',
      v: 1,
      data: { ...of, passkeyId: 1, counter },
    })
    given(added(1))
      .when(take(4))
      .then([used(4)])
    for (const counter of [0, 3, 4]) {
      given(added(1), used(4)).when(take(counter)).then(codedError('PasskeyCopied'))
    }
    given(added(1, 0))
      .when(take(0))
      .then([used(0)])
    given().when(take(1)).then(codedError('PasskeyUnknown'))
  })

  it('remove the recovery codes when the last second factor is removed', () => {
    const remove = { type: 'RemovePasskey', ...of, passkeyId: 1 } as const
    given(added(1), codes('a'))
      .when(remove)
      .then([removed(1), codes()])
    given(added(1), codes('a'), totpOn)
      .when(remove)
      .then([removed(1)])
  })
})

describe('the reset of second factors by an admin', () => {
  const reset = { type: 'ResetSecondFactor', ...of, passkeyIds: [1, 2] } as const

  it('removes all factors and recovery codes in one event; a second reset is refused', () => {
    const outcome = given(totpOn, codes('a'), added(1), added(2)).when(reset)
    const gone = { type: 'SecondFactorReset', v: 1, data: { ...of, passkeyIds: [1, 2] } } as const
    outcome.then([gone])
    expect(outcome.after).toMatchObject({ totp: null, passkeysMade: 2 })
    expect(outcome.after.passkeys.size + outcome.after.recoveryCodes.size).toBe(0)
    given(totpOn, gone).when(reset).then(codedError('NoSecondFactor'))
    given().when(reset).then(codedError('NoSecondFactor'))
  })

  it('is refused if a passkey was added that the admin had not seen', () => {
    given(totpOn, added(1), added(2), added(3)).when(reset).then(codedError('PasskeysChanged'))
  })
})

describe('the access token of a user', () => {
  const token = { ...of, tokenHash: 'h', authVersion: 2, expiresAt: 9 }
  const issued = { type: 'AccessTokenIssued', v: 1, data: token } as const

  it('is replaced by a new one, and its revocation is recorded once', () => {
    given()
      .when({ type: 'IssueAccessToken', ...token })
      .then([issued])
    const other = { ...issued, data: { ...token, tokenHash: 'i' } }
    expect(given(issued, other).state.accessToken?.tokenHash).toBe('i')
    const revoke = { type: 'RevokeAccessToken', ...of } as const
    const revoked = { type: 'AccessTokenRevoked', v: 1, data: of } as const
    given(issued).when(revoke).then([revoked])
    given(issued, revoked).when(revoke).then([])
  })

  it('is removed with all other credentials when the user is deleted', () => {
    const forget = { type: 'ForgetCredentials', ...of } as const
    const data = { ...of, passkeyIds: [1] }
    const outcome = given(issued, totpOn, codes('a'), added(1)).when(forget)
    outcome.then([{ type: 'CredentialsForgotten', v: 1, data }])
    expect(outcome.after).toMatchObject({ accessToken: null, totp: null, passkeysMade: 1 })
    expect(outcome.after.passkeys.size + outcome.after.recoveryCodes.size).toBe(0)
    given().when(forget).then([])
  })
})
