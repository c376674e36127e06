import { useTranslation } from 'react-i18next'
import { StatusTag, type Tone } from '#console/ui/elements/status-tag.tsx'
import { Quota } from '#console/ui/quota/quota.tsx'
import type { User } from '#read-api/contract/users.ts'
import {
  displayNameOf,
  type Level,
  levelOf,
  stateOf,
  type UserState,
} from '../user-state-and-permitted-actions.ts'

const STATE_TONES: Record<UserState, Tone> = {
  active: 'good',
  banned: 'bad',
  locked: 'warn',
  deactivated: 'neutral',
  erased: 'neutral',
}

const LEVEL_TONES: Record<Level, Tone> = {
  user: 'neutral',
  auditor: 'lime',
  admin: 'info',
  root: 'warn',
}

export function StateTag({ user }: { user: User }) {
  const { t } = useTranslation()
  const state = stateOf(user)
  return <StatusTag tone={STATE_TONES[state]}>{t(`users.state.${state}`)}</StatusTag>
}

export function LevelTag({ user }: { user: Pick<User, 'role' | 'is_erased'> }) {
  const { t } = useTranslation()
  if (user.is_erased) return <span className="tg-quiet tg-on-table">–</span>
  const level = levelOf(user)
  return (
    <StatusTag tone={LEVEL_TONES[level]} isPlain>
      {t(`shared.level.${level}`)}
    </StatusTag>
  )
}

/**
 * Shows the id of a user. On a card, the id of a user without a name is hidden, because the id is
 * already the title of the card.
 */
export function IdCell({ user }: { user: User }) {
  return <span className={user.username === '' ? 'tg-on-table' : ''}>#{user.id}</span>
}

export function NameCell({ user }: { user: User }) {
  const { display_name: displayName, username } = user
  return (
    <span className="tg-user-name">
      <span className="tg-cell-strong">{displayNameOf(user)}</span>
      {displayName !== '' && displayName !== username && (
        <span className="tg-quiet">{displayName}</span>
      )}
    </span>
  )
}

export function InvitesCell({ user }: { user: User }) {
  const { t } = useTranslation()
  return (
    <span className="tg-user-invites">
      <span>
        {t('users.invitedCount', { count: user.aff_count })}
        {user.aff_history_quota > 0 && ' · '}
        {user.aff_history_quota > 0 && <Quota value={BigInt(user.aff_history_quota)} />}
      </span>
      {user.inviter_id > 0 && (
        <span className="tg-quiet">{t('users.invitedBy', { id: user.inviter_id })}</span>
      )}
    </span>
  )
}
