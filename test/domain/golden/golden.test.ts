import { describe, expect, it } from 'vitest'
import type { AccountEvent } from '#domain/account/events.ts'
import { channelDecider } from '#domain/channel/decide.ts'
import type { ChannelEvent, ChannelTerms } from '#domain/channel/events.ts'
import { optionsDecider } from '#domain/options/decide.ts'
import type { OptionsEvent } from '#domain/options/events.ts'
import type { Sealed } from '#domain/shared/event.ts'
import { siteDecider } from '#domain/site/decide.ts'
import type { SiteEvent } from '#domain/site/events.ts'
import { tokenDecider } from '#domain/token/decide.ts'
import type { TokenEvent, TokenTerms } from '#domain/token/events.ts'
import { userDecider } from '#domain/user/decide.ts'
import type { UserEvent, UsernameEvent } from '#domain/user/events.ts'
import { usernameDecider } from '#domain/user/username.ts'
import { golden, goldenNames, story } from './story.ts'

type AnyEvent =
  | AccountEvent
  | ChannelEvent
  | OptionsEvent
  | SiteEvent
  | TokenEvent
  | UserEvent
  | UsernameEvent

/** The newest version of every event's shape; a type left out is an error of types. */
const VERSIONS: Record<AnyEvent['type'], number> = {
  QuotaGranted: 1,
  QuotaDeducted: 1,
  TokenBudgetSet: 1,
  TokenBudgetClosed: 1,
  CallAdmitted: 1,
  CallProgressed: 1,
  CallSettled: 1,
  CallReleased: 1,
  CallInterrupted: 1,
  ChannelCreated: 1,
  ChannelTermsChanged: 1,
  ChannelEnabled: 1,
  ChannelDisabled: 1,
  ChannelAutoDisabled: 1,
  ChannelDeleted: 1,
  OptionSet: 1,
  SecretOptionSet: 1,
  SiteInitialized: 1,
  TokenCreated: 1,
  TokenTermsChanged: 1,
  TokenEnabled: 1,
  TokenDisabled: 1,
  TokenDeleted: 1,
  UserCreated: 1,
  UserProfileChanged: 1,
  UserPasswordChanged: 1,
  UserGroupChanged: 1,
  UserRoleChanged: 1,
  UserDisabled: 1,
  UserEnabled: 1,
  UserDeleted: 1,
  UserSettingsChanged: 1,
  UsernameClaimed: 1,
}

describe('golden events', () => {
  it('are there for every type and every version it ever had', () => {
    const kept = new Set(goldenNames().map((name) => identity(golden(name))))
    const wanted = Object.entries(VERSIONS).flatMap(([type, newest]) =>
      Array.from({ length: newest }, (_, n) => identity({ type, v: n + 1 })),
    )
    expect([...kept].sort()).toEqual(wanted.sort())
  })

  it('are called after what they are', () => {
    for (const name of goldenNames()) {
      const { type, v } = golden(name)
      const words = type.replace(/(?<=.)[A-Z]/g, '-$&').toLowerCase()
      expect(name.startsWith(words) && name.endsWith(`-v${v}`), name).toBe(true)
    }
  })
})

const identity = ({ type, v }: { readonly type: string; readonly v: number }) => `${type} v${v}`

const TOKEN_TERMS: TokenTerms = {
  name: 'laptop',
  expiresAt: 1_830_000_000,
  group: 'vip',
  models: ['gpt-4o', 'm'],
  allowIps: 'sealed:ips' as Sealed,
  rateLimit: { isEnabled: true, periodSeconds: 60, count: 10, success: 5 },
}
const TOKEN = { tokenId: 3, userId: 7 }
const KEY = { keyLookup: 'a1b2c3', keyRef: 'key-1', keyHint: 'wxyz' }
const changedTerms = { ...TOKEN_TERMS, name: 'server', expiresAt: null, models: null }

const CHANNEL_TERMS: ChannelTerms = {
  name: 'first',
  type: 1,
  baseUrl: 'https://api.example.com',
  models: ['gpt-4o'],
  groups: ['default', 'vip'],
  priority: 10,
  weight: 3,
  tag: 'eu',
  isAutoBan: true,
  testModel: 'gpt-4o',
  organization: 'org-1',
  other: '',
  modelPrefix: 'eu-',
  maxInputTokens: 128_000,
  expiredTime: -1,
  modelMapping: '{"gpt-4o":"gpt-4o-2024-08-06"}',
  statusCodeMapping: '{"429":"503"}',
  setting: '{"proxy":"http://proxy.example.com:3128"}',
  paramOverride: '{"temperature":0}',
}
const otherTerms = { ...CHANNEL_TERMS, priority: 5 }

describe('the events of tokens, channels, options and the site, as first recorded', () => {
  story(
    'a token',
    tokenDecider,
    [
      ['token-created-v1', { type: 'CreateToken', ...TOKEN, terms: TOKEN_TERMS, ...KEY }],
      ['token-terms-changed-v1', { type: 'ChangeTerms', userId: 7, terms: changedTerms }],
      ['token-disabled-v1', { type: 'DisableToken', userId: 7 }],
      ['token-enabled-v1', { type: 'EnableToken', userId: 7 }],
      ['token-deleted-v1', { type: 'DeleteToken', userId: 7 }],
    ],
    { token: { ...TOKEN, keyRef: 'key-1', terms: changedTerms, isEnabled: true, isDeleted: true } },
  )
  story(
    'a channel',
    channelDecider,
    [
      [
        'channel-created-v1',
        { type: 'CreateChannel', channelId: 4, terms: CHANNEL_TERMS, keyRef: 'key-2' },
      ],
      ['channel-terms-changed-v1', { type: 'ChangeTerms', terms: otherTerms, keyRef: null }],
      ['channel-disabled-v1', { type: 'DisableChannel' }],
      ['channel-enabled-v1', { type: 'EnableChannel' }],
      ['channel-auto-disabled-v1', { type: 'AutoDisableChannel', reason: '401' }],
      ['channel-deleted-v1', { type: 'DeleteChannel' }],
    ],
    {
      channel: {
        channelId: 4,
        terms: otherTerms,
        keyRef: 'key-2',
        status: 'auto-disabled',
        isDeleted: true,
      },
    },
  )
  story(
    'the options',
    optionsDecider,
    [
      ['option-set-v1', { type: 'SetOption', key: 'ModelRatio', value: '{"gpt-4o":1.25}' }],
      ['secret-option-set-v1', { type: 'SetSecretOption', key: 'SMTPToken', secretRef: 'key-3' }],
    ],
    {
      values: new Map([['ModelRatio', '{"gpt-4o":1.25}']]),
      secretRefs: new Map([['SMTPToken', 'key-3']]),
    },
  )
  story(
    'the site',
    siteDecider,
    [
      [
        'site-initialized-v1',
        { type: 'InitializeSite', rootUserId: 1, isSelfUse: true, isDemoSite: false },
      ],
    ],
    { isInitialized: true },
  )
})

describe('the events of users, as first recorded', () => {
  const settings = { acceptUnsetModelRatioModel: true, showIpInLogs: true }
  const displayName = 'sealed:other-name' as Sealed

  story(
    'a user',
    userDecider,
    [
      [
        'user-created-v1',
        {
          type: 'CreateUser',
          userId: 7,
          username: 'sealed:username' as Sealed,
          displayName: 'sealed:name' as Sealed,
          role: 1,
          group: 'default',
          passwordRef: 'key-4',
          inviterId: 1,
        },
      ],
      ['user-profile-changed-v1', { type: 'ChangeProfile', actorRole: null, displayName }],
      [
        'user-password-changed-v1',
        { type: 'ChangePassword', actorRole: null, passwordRef: 'key-5' },
      ],
      ['user-group-changed-v1', { type: 'ChangeGroup', actorRole: 10, group: 'vip' }],
      ['user-role-changed-v1', { type: 'PromoteUser', actorRole: 100 }],
      ['user-disabled-v1', { type: 'DisableUser', actorRole: 100 }],
      ['user-enabled-v1', { type: 'EnableUser', actorRole: 100 }],
      ['user-settings-changed-v1', { type: 'ChangeSettings', settings }],
      ['user-deleted-v1', { type: 'DeleteUser', actorRole: 100 }],
    ],
    {
      user: {
        userId: 7,
        role: 10,
        group: 'vip',
        displayName,
        passwordRef: 'key-5',
        authVersion: 5,
        isEnabled: true,
        isDeleted: true,
        settings,
      },
    },
  )
  story(
    'a username',
    usernameDecider,
    [['username-claimed-v1', { type: 'ClaimUsername', nameKey: 'd4e5f6', userId: 7 }]],
    { userId: 7 },
  )
})
