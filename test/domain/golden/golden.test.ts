import { describe, expect, it } from 'vitest'
import type { AccountEvent } from '#domain/accounts/events.ts'
import { auditJobsDecider } from '#domain/audit/decide-audit-jobs.ts'
import type {
  DataExported,
  RefusalAcknowledged,
  VerificationFinished,
  VerificationRequested,
  WitnessRefused,
} from '#domain/audit/events.ts'
import type { BatchEvent } from '#domain/batches/events.ts'
import { channelChecksDecider, testRunsDecider } from '#domain/channel-checks/decide.ts'
import type { ChannelChecksEvent, TestRunEvent } from '#domain/channel-checks/events.ts'
import type { ChannelHealthEvent } from '#domain/channel-health/events.ts'
import type { ChannelEvent } from '#domain/channels/events.ts'
import { correctionsDecider } from '#domain/corrections/decide.ts'
import type { CorrectionEvent, CorrectionStarted } from '#domain/corrections/events.ts'
import type {
  CredentialsEvent,
  LoginsFailed,
  SessionsEnded,
  UserLoggedIn,
} from '#domain/credentials/events.ts'
import { identityDecider } from '#domain/identities/decide.ts'
import type { IdentityEvent } from '#domain/identities/events.ts'
import type { MessageEvent, MessageRead } from '#domain/messages/events.ts'
import type { NotificationEvent } from '#domain/notifications/events.ts'
import { optionsDecider } from '#domain/options/decide.ts'
import {
  OPTIONS_VERSIONS,
  type OptionsEvent,
  type SettingEvent,
  upcastOption,
} from '#domain/options/events.ts'
import {
  providerInvoiceRequestsDecider,
  providerInvoicesDecider,
} from '#domain/provider-invoices/decide.ts'
import type {
  InvoiceImported,
  InvoiceRequestsDeleted,
  InvoiceRequestsRecorded,
  ProviderInvoiceEvent,
} from '#domain/provider-invoices/events.ts'
import type { RedemptionEvent, RedemptionIdsTaken } from '#domain/redemptions/events.ts'
import { siteDecider } from '#domain/setup/decide.ts'
import type { SiteEvent } from '#domain/setup/events.ts'
import type { Recorded, Sealed } from '#domain/shared/event.ts'
import type { TaskEvent } from '#domain/tasks/events.ts'
import { TOKEN_VERSIONS, type TokenEvent, type TokenIdsTaken } from '#domain/tokens/events.ts'
import type { TopUpEvent } from '#domain/top-ups/events.ts'
import { userDecider, usernameDecider } from '#domain/users/decide.ts'
import type { UserEvent, UsernameEvent } from '#domain/users/events.ts'
import { golden, goldenNames, story } from './story.ts'

type AnyEvent =
  | AccountEvent
  | ChannelEvent
  | ChannelChecksEvent
  | TestRunEvent
  | ChannelHealthEvent
  | IdentityEvent
  | CredentialsEvent
  | OptionsEvent
  | RedemptionEvent
  | RedemptionIdsTaken
  | SiteEvent
  | TokenEvent
  | TokenIdsTaken
  | UserEvent
  | UsernameEvent
  | NotificationEvent
  | MessageEvent
  | MessageRead
  | TopUpEvent
  | TaskEvent
  | BatchEvent
  | CorrectionEvent
  | ProviderInvoiceEvent
  | InvoiceRequestsRecorded
  | InvoiceRequestsDeleted
  | UserLoggedIn
  | LoginsFailed
  | SessionsEnded
  | DataExported
  | VerificationRequested
  | VerificationFinished
  | WitnessRefused
  | RefusalAcknowledged

/** The newest version of each event type. A missing type fails the type check. */
const VERSIONS: Record<AnyEvent['type'], number> = {
  QuotaGranted: 1,
  QuotaDeducted: 1,
  InviteRewarded: 1,
  AffiliateTransferred: 1,
  CheckedIn: 1,
  TopUpCredited: 1,
  TopUpReversed: 1,
  RebateEarned: 1,
  RebateReversed: 1,
  TopUpOrdered: 1,
  TopUpPaid: 1,
  TopUpRefunded: 1,
  TopUpRestored: 1,
  TopUpRefundReported: 1,
  TopUpDisputeReported: 1,
  TokenBudgetSet: 1,
  TokenBudgetsOpened: 1,
  TokenBudgetsClosed: 1,
  TokenBudgetClosed: 1,
  CallAdmitted: 1,
  CallProgressed: 1,
  HoldRaised: 1,
  CallSettled: 1,
  CallReleased: 1,
  CallInterrupted: 1,
  ChargeCorrected: 1,
  CorrectionStarted: 1,
  CorrectionFinished: 1,
  InvoiceImported: 1,
  InvoiceDeleted: 1,
  InvoiceRequestsRecorded: 1,
  InvoiceRequestsDeleted: 1,
  ChannelsCreated: 1,
  ChannelTermsChanged: 1,
  ChannelsEnabled: 1,
  ChannelsDisabled: 1,
  ChannelSubmissionsPaused: 1,
  ChannelSubmissionsResumed: 1,
  ChannelAutoDisabled: 1,
  ChannelsDeleted: 1,
  ChannelsTagged: 1,
  TagTermsChanged: 1,
  ChannelKeySetAside: 1,
  ChannelKeysTakenBack: 1,
  ChannelAbilitiesFixed: 1,
  ChannelTested: 1,
  ChannelBalanceRead: 1,
  ChannelTestRunStarted: 1,
  ChannelTestRunEnded: 1,
  ...OPTIONS_VERSIONS,
  CircuitOpened: 1,
  CircuitHalfOpened: 1,
  CircuitClosed: 1,
  AccessTokenIssued: 1,
  AccessTokenRevoked: 1,
  TotpEnabled: 1,
  TotpStepUsed: 1,
  TotpDisabled: 1,
  RecoveryCodesReplaced: 1,
  RecoveryCodeUsed: 1,
  PasskeyAdded: 1,
  PasskeyRenamed: 1,
  PasskeyUsed: 1,
  PasskeyRemoved: 1,
  SecondFactorReset: 1,
  CredentialsForgotten: 1,
  RedemptionCreated: 1,
  RedemptionTermsChanged: 1,
  RedemptionDisabled: 1,
  RedemptionEnabled: 1,
  RedemptionDeleted: 1,
  CodeRedeemed: 1,
  RedemptionIdsTaken: 1,
  SiteInitialized: 1,
  ...TOKEN_VERSIONS,
  TokenIdsTaken: 1,
  UserCreated: 1,
  UserProfileChanged: 1,
  UserPasswordChanged: 1,
  UserGroupChanged: 1,
  UserRoleChanged: 1,
  UserDisabled: 1,
  UserEnabled: 1,
  UserDeleted: 1,
  UserLoginsVoided: 1,
  UserErased: 1,
  UserSettingsChanged: 1,
  UsernameClaimed: 1,
  UsernameReleased: 1,
  NotificationsChanged: 1,
  QuotaWarned: 1,
  MessageSent: 1,
  MessageEdited: 1,
  MessageDeleted: 1,
  MessageRead: 1,
  TaskSubmitted: 1,
  TaskAccepted: 1,
  TaskRouted: 1,
  TaskUnconfirmed: 1,
  TaskStatusChanged: 1,
  TaskSucceeded: 1,
  TaskFailed: 1,
  BatchSubmitted: 1,
  BatchRouted: 1,
  BatchAccepted: 1,
  BatchLinesBilled: 1,
  BatchEnded: 1,
  TaskDeleted: 1,
  IdentityBound: 1,
  IdentityUnbound: 1,
  UserPasskeysGone: 1,
  IdentityClaimed: 1,
  IdentityReleased: 1,
  UserLoggedIn: 1,
  LoginsFailed: 1,
  SessionsEnded: 1,
  DataExported: 1,
  VerificationRequested: 1,
  VerificationFinished: 1,
  WitnessRefused: 1,
  RefusalAcknowledged: 1,
}

const TESTED = {
  channelId: 4,
  model: 'gpt-4o',
  isSuccess: true,
  durationMs: 812,
  reason: '',
  usage: { input: 8, output: 16 },
  run: '7d0f3a52-0000-4000-8000-000000000001',
}

describe('golden events', () => {
  it('exist for every type and every version of an event', () => {
    const kept = new Set(goldenNames().map((name) => identity(golden(name))))
    const expectedVersions = Object.entries(VERSIONS).flatMap(([type, newest]) =>
      Array.from({ length: newest }, (_, n) => identity({ type, v: n + 1 })),
    )
    expect([...kept].sort()).toEqual(expectedVersions.sort())
  })

  it('have file names that match their type and version', () => {
    for (const name of goldenNames()) {
      const { type, v } = golden(name)
      const words = type.replace(/(?<=.)[A-Z]/g, '-$&').toLowerCase()
      expect(name.startsWith(words) && name.endsWith(`-v${v}`), name).toBe(true)
    }
  })
})

const identity = ({ type, v }: { readonly type: string; readonly v: number }) => `${type} v${v}`

const GITHUB = { provider: 'github', identityKey: 'b7c8d9' } as const
describe('an earlier version of an option event', () => {
  it.each(['option-set', 'secret-option-set'])('%s is converted to the newest version', (name) => {
    const [old, newest] = [golden(`${name}-v1`), golden(`${name}-v2`)] as OptionsEvent[]
    const upcast = upcastOption(old as Recorded<SettingEvent>)
    expect(upcast.v).toBe(newest?.v)
    expect(Object.keys(upcast.data).sort()).toEqual(Object.keys(newest?.data ?? {}).sort())
    expect(upcast.data).toEqual({ ...old?.data, before: null })
    expect(upcastOption(newest as Recorded<SettingEvent>)).toBe(newest)
  })
})

describe('the events of options and the site, as first recorded', () => {
  story(
    'the options',
    optionsDecider,
    [
      ['option-set-v1', null],
      ['option-set-v2', { type: 'SetOption', key: 'RetryTimes', value: '2' }],
      ['secret-option-set-v1', null],
      ['secret-option-set-v2', { type: 'SetSecretOption', key: 'SMTPToken', secretRef: 'key-4' }],
    ],
    {
      values: new Map([
        ['ModelRatio', '{"gpt-4o":1.25}'],
        ['RetryTimes', '2'],
      ]),
      secretRefs: new Map([['SMTPToken', 'key-4']]),
      planned: new Map(),
      lastPlannedId: 0,
    },
  )
  story(
    'checks of a channel',
    channelChecksDecider,
    [
      ['channel-tested-v1', { type: 'RecordTest', ...TESTED }],
      ['channel-balance-read-v1', { type: 'RecordBalance', channelId: 4, balance: '15.068493' }],
    ],
    {},
  )
  story(
    'a test run over all channels',
    testRunsDecider,
    [
      ['channel-test-run-started-v1', { type: 'StartTestRun', run: TESTED.run, total: 3 }],
      ['channel-test-run-ended-v1', { type: 'EndTestRun', run: TESTED.run, tested: 3, failed: 1 }],
    ],
    { open: null },
  )
  const started = golden('correction-started-v1').data as CorrectionStarted['data']
  story(
    'a correction of charges',
    correctionsDecider,
    [
      ['correction-started-v1', { type: 'StartCorrection', ...started }],
      [
        'correction-finished-v1',
        { type: 'FinishCorrection', id: 'c1', finishedAt: 1_795_248_000_500 },
      ],
    ],
    { corrections: [{ ...started, finishedAt: 1_795_248_000_500 }] },
  )
  const requests = golden('invoice-requests-recorded-v1').data as InvoiceRequestsRecorded['data']
  story(
    'the rows of an invoice with ids',
    providerInvoiceRequestsDecider,
    [
      ['invoice-requests-recorded-v1', { type: 'RecordInvoiceRequests', ...requests }],
      [
        'invoice-requests-deleted-v1',
        { type: 'DeleteInvoiceRequests', invoiceId: requests.invoiceId, max: 10 },
      ],
    ],
    { parts: 1, deleted: 1 },
  )
  const imported = golden('invoice-imported-v1').data as InvoiceImported['data']
  story(
    'an invoice',
    providerInvoicesDecider,
    [
      ['invoice-imported-v1', { type: 'ImportInvoice', ...imported }],
      ['invoice-deleted-v1', { type: 'DeleteInvoice', invoiceId: imported.invoiceId }],
    ],
    { invoices: [] },
  )
  for (const kind of ['', '-rooted']) {
    const [first, second] = [`witness-refused${kind}-v1`, `refusal-acknowledged${kind}-v1`]
    const refused = golden(first).data as WitnessRefused['data']
    const acknowledged = golden(second).data as RefusalAcknowledged['data']
    const { size, witness, refusedSize, refusedRoot, ...given } = acknowledged
    story(
      `the refusal of a witness${kind}`,
      auditJobsDecider,
      [
        [first, { type: 'RecordRefusedCosignature', continued: [], ...refused }],
        [second, { type: 'AcknowledgeRefusedCosignature', ...given }],
      ],
      {
        ...{ verifications: [], rebuilds: [], scratchCopies: [], rotatedKeys: [] },
        refusals: [{ ...refused, isNotified: false, acknowledgedAt: acknowledged.acknowledgedAt }],
      },
    )
  }
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
  const note = 'sealed:why' as Sealed

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
      ['user-group-changed-noted-v1', { type: 'ChangeGroup', actorRole: 10, group: 'svip', note }],
      ['user-group-changed-v1', { type: 'ChangeGroup', actorRole: 10, group: 'vip' }],
      ['user-role-changed-v1', { type: 'PromoteUser', actorRole: 100 }],
      ['user-disabled-v1', { type: 'DisableUser', actorRole: 100 }],
      ['user-enabled-v1', { type: 'EnableUser', actorRole: 100 }],
      ['user-settings-changed-v1', { type: 'ChangeSettings', settings }],
      [
        'identity-bound-v1',
        { type: 'BindIdentity', ...GITHUB, identity: 'sealed:id' as Sealed, replaces: null },
      ],
      [
        'identity-unbound-v1',
        {
          type: 'UnbindIdentity',
          ...GITHUB,
          enabledLoginMethods: ['password'],
          expectedRemovedLoginMethods: 0,
        },
      ],
      [
        'user-passkeys-gone-v1',
        { type: 'DropPasskeys', enabledLoginMethods: ['password'], expectedRemovedLoginMethods: 1 },
      ],
      ['user-deleted-v1', { type: 'DeleteUser', actorRole: 100 }],
      ['user-erased-v1', { type: 'EraseUser', actorRole: 100 }],
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
        isErased: true,
        settings,
        identities: {},
        removedLoginMethods: 2,
      },
    },
  )
  it('a temporary password that the server generated', () => {
    const [created, changed] = ['user-created-v1', 'user-password-changed-temporary-v1'].map(
      (name) => golden(name) as UserEvent,
    )
    const created7 = userDecider.evolve(userDecider.initialState(), created as UserEvent)
    const command = { type: 'ChangePassword', actorRole: null, isTemporary: true } as const
    expect(userDecider.decide({ ...command, passwordRef: 'key-6' }, created7)).toEqual([changed])
    const { user } = userDecider.evolve(created7, changed as UserEvent)
    expect(user).toMatchObject({ passwordRef: 'key-6', authVersion: 2 })
  })
  it('logins that an admin revoked', () => {
    const [created, voided] = ['user-created-v1', 'user-logins-voided-v1'].map(
      (name) => golden(name) as UserEvent,
    )
    const created7 = userDecider.evolve(userDecider.initialState(), created as UserEvent)
    const command = { type: 'VoidLogins', actorRole: 10 } as const
    expect(userDecider.decide(command, created7)).toEqual([voided])
    const { user } = userDecider.evolve(created7, voided as UserEvent)
    expect(user).toMatchObject({ authVersion: 2 })
  })
  story(
    'an identity',
    identityDecider,
    [
      ['identity-claimed-v1', { type: 'ClaimIdentity', ...GITHUB, userId: 7 }],
      ['identity-released-v1', { type: 'ReleaseIdentity', ...GITHUB, userId: 7 }],
    ],
    { userId: null },
  )
  story(
    'a username',
    usernameDecider,
    [
      ['username-claimed-v1', { type: 'ClaimUsername', nameKey: 'd4e5f6', userId: 7 }],
      ['username-released-v1', { type: 'ReleaseUsername', nameKey: 'd4e5f6', userId: 7 }],
    ],
    { userId: null },
  )
})
