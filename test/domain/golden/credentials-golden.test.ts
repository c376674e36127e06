import { describe } from 'vitest'
import { credentialsDecider } from '#domain/credentials/decide.ts'
import type { Sealed } from '#domain/shared/event.ts'
import { story } from './story.ts'

const of = { userId: 7 } as const
const sealed = (text: string): Sealed => `sealed:${text}` as Sealed

describe('the events of credentials, as first recorded', () => {
  story(
    'second factors, and the access token',
    credentialsDecider,
    [
      [
        'access-token-issued-v1',
        {
          type: 'IssueAccessToken',
          ...of,
          tokenHash: 'hash-of-token',
          authVersion: 2,
          expiresAt: 1_803_024_000,
        },
      ],
      ['access-token-revoked-v1', { type: 'RevokeAccessToken', ...of }],
      // The command also creates recovery codes as a second event, so this event is folded alone.
      ['totp-enabled-v1', null],
      [
        'recovery-codes-replaced-v1',
        { type: 'ReplaceRecoveryCodes', ...of, codeHashes: ['hash-a', 'hash-b'] },
      ],
      ['totp-step-used-v1', { type: 'UseTotpStep', ...of, step: 59_841_601 }],
      ['recovery-code-used-v1', { type: 'UseRecoveryCode', ...of, codeHash: 'hash-a' }],
      [
        'passkey-added-v1',
        {
          type: 'AddPasskey',
          ...of,
          name: sealed('phone'),
          credential: sealed('credential'),
          credentialHash: 'hash-of-id',
          counter: 0,
          codeHashes: [],
        },
      ],
      ['totp-disabled-v1', { type: 'DisableTotp', ...of }],
      [
        'passkey-renamed-v1',
        { type: 'RenamePasskey', ...of, passkeyId: 1, name: sealed('office') },
      ],
      ['passkey-used-v1', { type: 'UsePasskey', ...of, passkeyId: 1, counter: 4 }],
    ],
    {
      accessToken: null,
      totp: null,
      recoveryCodes: new Set(['hash-b']),
      passkeys: new Map([
        [
          1,
          {
            name: sealed('office'),
            credential: sealed('credential'),
            credentialHash: 'hash-of-id',
            counter: 4,
          },
        ],
      ]),
      passkeysMade: 1,
    },
  )

  story(
    'second factors that an admin reset',
    credentialsDecider,
    [
      ['access-token-issued-v1', null],
      ['totp-enabled-v1', null],
      ['recovery-codes-replaced-v1', null],
      ['passkey-added-v1', null],
      ['second-factor-reset-v1', { type: 'ResetSecondFactor', ...of, passkeyIds: [1] }],
    ],
    {
      accessToken: { tokenHash: 'hash-of-token', authVersion: 2, expiresAt: 1_803_024_000 },
      totp: null,
      recoveryCodes: new Set(),
      passkeys: new Map(),
      passkeysMade: 1,
    },
  )

  story(
    'the deletion of all credentials',
    credentialsDecider,
    [
      ['totp-enabled-v1', null],
      ['passkey-added-v1', null],
      ['passkey-removed-v1', { type: 'RemovePasskey', ...of, passkeyId: 1 }],
      ['credentials-forgotten-v1', { type: 'ForgetCredentials', ...of }],
    ],
    {
      accessToken: null,
      totp: null,
      recoveryCodes: new Set(),
      passkeys: new Map(),
      passkeysMade: 1,
    },
  )
})
