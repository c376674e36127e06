import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'
import type { Action } from '#console/ui/actions/action-registry.ts'
import {
  actionsColumn,
  type Column,
  column,
  NUMBER_COLUMN,
  TITLE_COLUMN,
} from '#console/ui/data-grid/column-and-layout.ts'
import { GroupTag } from '#console/ui/elements/group-tag.tsx'
import type { IconName } from '#console/ui/elements/icons.tsx'
import { type MenuItem, RowMenu } from '#console/ui/elements/menu.tsx'
import { stamp } from '#console/ui/elements/time.tsx'
import { editAction } from '#console/ui/lists/edit-delete-and-undo-actions.ts'
import { RowSwitch } from '#console/ui/lists/row-actions.tsx'
import { quotaOf } from '#console/ui/quota/money.ts'
import { Quota } from '#console/ui/quota/quota.tsx'
import type { User } from '#read-api/contract/users.ts'
import { type Actor, displayNameOf, permittedActions } from '../user-state-and-permitted-actions.ts'
import type { UserActions } from './use-user-actions.ts'
import { IdCell, InvitesCell, LevelTag, NameCell, StateTag } from './user-cells.tsx'

type UserRowActions = UserActions & {
  readonly actor: Actor
  readonly onEdit: (user: User) => void
  readonly onAdjust: (users: readonly User[]) => void
}

export function userColumns(t: TFunction, locale: string, actions: UserRowActions): Column<User>[] {
  const count = new Intl.NumberFormat(locale)
  const quota = (id: string, title: string, field: 'quota' | 'used_quota') =>
    column<User>(id, title, 92, (user) => <Quota value={quotaOf(user[field])} />, NUMBER_COLUMN)
  const created = ({ created_time }: User) => stamp(created_time)
  return [
    column('id', t('shared.id'), 54, (user) => <IdCell user={user} />, { onCard: 'bare' }),
    column('username', t('auth.name'), 112, (user) => <NameCell user={user} />, TITLE_COLUMN),
    column('status', t('shared.status'), 122, (user) => <StateTag user={user} />, {
      onCard: 'aside',
    }),
    column('role', t('users.role'), 114, (user) => <LevelTag user={user} />, { onCard: 'bare' }),
    column('group', t('ui.groupName'), 92, ({ group }) => <GroupTag name={group} />, {
      onCard: 'bare',
    }),
    quota('quota', t('shared.balance'), 'quota'),
    quota('used', t('users.used'), 'used_quota'),
    column(
      'requests',
      t('shared.requests'),
      86,
      (user) => count.format(user.request_count),
      NUMBER_COLUMN,
    ),
    column('invites', t('users.invites'), 124, (user) => <InvitesCell user={user} />, {
      onCard: 'brief',
    }),
    column('created', t('shared.created'), 160, created, { isHiddenAtFirst: true }),
    actionsColumn(t, 92, (user) => <UserMenu user={user} actions={actions} />),
  ]
}

const NOTHING = <span className="tg-quiet tg-on-table">–</span>

type LevelAction = 'promote' | 'appoint_auditor' | 'demote'

function UserMenu({ user, actions }: { user: User; actions: UserRowActions }) {
  const { t } = useTranslation()
  const allowed = permittedActions(user, actions.actor)
  if (user.DeletedAt !== null || allowed.size === 0) return NOTHING
  const name = displayNameOf(user)
  const entry = (action: LevelAction, icon: IconName): Action[] =>
    allowed.has(action)
      ? [{ title: t(`users.${action}`), icon, perform: () => actions.manage(user, action) }]
      : []
  const items: MenuItem[] = [
    editAction(() => actions.onEdit(user)),
    { title: t('users.adjust'), icon: 'wallet', perform: () => actions.onAdjust([user]) },
    ...entry('promote', 'arrowUp'),
    ...entry('appoint_auditor', 'eye'),
    ...entry('demote', 'arrowDown'),
  ]
  if (allowed.has('delete')) {
    items.push('divider', {
      title: t('users.delete'),
      icon: 'trash',
      tone: 'danger',
      perform: () => actions.manage(user, 'delete'),
    })
  }
  return (
    <span className="tg-row-actions">
      {(allowed.has('disable') || allowed.has('enable')) && (
        <RowSwitch
          label={t('users.toggle', { name })}
          isOn={user.status === 1}
          onToggle={() => void actions.setEnabled(user, user.status !== 1)}
        />
      )}
      <RowMenu items={items} label={t('shared.moreActions', { name })} />
    </span>
  )
}
