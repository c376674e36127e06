import type {
  CredentialsEvent,
  LoginsFailed,
  SessionsEnded,
  UserLoggedIn,
} from '#domain/credentials/events.ts'
import type { NotificationsChanged } from '#domain/notifications/events.ts'
import type { UserEvent } from '#domain/users/events.ts'
import type { Handlers } from '../projection.ts'
import { logAct } from './log-acts-of-events.ts'

/**
 * The events of credentials that are not recorded as acts. They record that a credential was used,
 * which is only a part of a login or of a confirmation.
 */
type CredentialUse = { readonly type: 'PasskeyUsed' | 'TotpStepUsed' }
type CredentialsAct = Exclude<CredentialsEvent, CredentialUse>
type LoginEvent = UserLoggedIn | LoginsFailed | SessionsEnded
export type UserActEvent = UserEvent | CredentialsAct | LoginEvent | NotificationsChanged

/** Returns the handlers for acts on users, their logins and their credentials. */
export const userActHandlers = (): Handlers<UserActEvent> => ({
  ...userHandlers(),
  ...loginHandlers(),
  ...credentialsHandlers(),
  // Addresses are personal data, so the log shows only whether an address is set.
  NotificationsChanged: logAct(({ data: { userId, settings } }) => ({
    ...{ kind: 'user', ids: [userId] },
    after: {
      ...{ notify_means: settings.means, notify_threshold: settings.threshold },
      ...{ notify_mail: settings.mailTo !== null, notify_webhook: settings.webhookUrl !== null },
    },
  })),
})

function userHandlers(): Handlers<UserEvent> {
  const user = (after: object = {}) =>
    logAct<UserEvent>(({ data }) => ({ kind: 'user', ids: [data.userId], after }))
  return {
    UserCreated: logAct(({ data: { userId, role, group, inviterId } }) => ({
      ...{ kind: 'user', ids: [userId] },
      after: { role, group, status: 1, inviter_id: inviterId },
    })),
    UserProfileChanged: user({ display_name: 'changed' }),
    UserPasswordChanged: logAct(({ data: { userId, isTemporary = false } }) => ({
      ...{ kind: 'user', ids: [userId] },
      after: { password: 'changed', is_temporary_password: isTemporary },
    })),
    UserGroupChanged: logAct(({ data: { userId, group, note } }) => ({
      ...{ kind: 'user', ids: [userId], after: { group }, note, noteUser: userId },
    })),
    UserRoleChanged: logAct(({ data: { userId, role } }) => ({
      ...{ kind: 'user', ids: [userId], after: { role } },
    })),
    UserDisabled: user({ status: 2 }),
    UserEnabled: user({ status: 1 }),
    UserDeleted: user({ status: 'deleted' }),
    UserLoginsVoided: user(),
    UserErased: user({ status: 'erased' }),
    UserSettingsChanged: logAct(({ data: { userId, settings } }) => ({
      ...{ kind: 'user', ids: [userId], after: settings },
    })),
    IdentityBound: logAct(({ data: { userId, provider } }) => ({
      ...{ kind: 'user', ids: [userId], after: { [`identity_${provider}`]: 'bound' } },
    })),
    IdentityUnbound: logAct(({ data: { userId, provider } }) => ({
      ...{ kind: 'user', ids: [userId], after: { [`identity_${provider}`]: 'unbound' } },
    })),
    UserPasskeysGone: user(),
  }
}

function loginHandlers(): Handlers<LoginEvent> {
  return {
    UserLoggedIn: logAct(({ data: { userId, clientIp, isByPassword } }) => ({
      ...{ kind: 'user', ids: [userId], client: { userId, ip: clientIp } },
      after: { is_by_password: isByPassword },
    })),
    // `before` is empty, because the counts of an earlier period are not earlier values of these
    // counts.
    LoginsFailed: logAct(({ data: { userId, count, reasons, networkHash } }) => ({
      ...{ kind: userId === null ? 'site' : 'user', ids: [userId ?? ''], before: {} },
      after: { count, ...reasons, ...(networkHash === null ? {} : { network: networkHash }) },
    })),
    SessionsEnded: logAct(({ data: { userId, which, count } }) => ({
      ...{ kind: 'user', ids: [userId], before: {}, after: { sessions: which, count } },
    })),
  }
}

function credentialsHandlers(): Handlers<CredentialsAct> {
  const user = (after: object = {}) =>
    logAct<CredentialsAct>(({ data }) => ({ kind: 'user', ids: [data.userId], after }))
  const passkey = logAct<Extract<CredentialsAct, { type: `Passkey${string}` }>>(({ data }) => ({
    ...{ kind: 'user', ids: [data.userId], after: { passkey_id: data.passkeyId } },
  }))
  return {
    AccessTokenIssued: logAct(({ data: { userId, expiresAt } }) => ({
      ...{ kind: 'user', ids: [userId], after: { access_token_expires_at: expiresAt } },
    })),
    AccessTokenRevoked: user({ access_token_expires_at: null }),
    TotpEnabled: user({ totp: true }),
    TotpDisabled: user({ totp: false }),
    RecoveryCodesReplaced: logAct(({ data: { userId, codeHashes } }) => ({
      ...{ kind: 'user', ids: [userId], after: { recovery_codes: codeHashes.length } },
    })),
    RecoveryCodeUsed: user(),
    PasskeyAdded: passkey,
    PasskeyRenamed: passkey,
    PasskeyRemoved: passkey,
    SecondFactorReset: user({ totp: false }),
    CredentialsForgotten: user(),
  }
}
