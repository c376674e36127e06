import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'
import type { Column } from '#console/ui/data-grid/column.ts'
import { GroupTag } from '#console/ui/elements/group-tag.tsx'
import { type MenuEntry, RowMenu } from '#console/ui/elements/menu.tsx'
import { Time } from '#console/ui/elements/time.tsx'
import { editEntry } from '#console/ui/lists/list-actions.ts'
import { RowSwitch } from '#console/ui/lists/row-switch.tsx'
import { quotaOf } from '#console/ui/quota/money.ts'
import { Quota } from '#console/ui/quota/quota.tsx'
import type { User } from '#read-api/contract/users.ts'
import { type Actor, actionsOn, calledOf } from '../user-actions.ts'
import type { UserActions } from './use-user-actions.ts'
import { IdCell, InvitesCell, LevelTag, NameCell, StateTag } from './user-cells.tsx'

export type UserRowActions = UserActions & {
  readonly actor: Actor
  readonly onEdit: (user: User) => void
  readonly onAdjust: (users: readonly User[]) => void
}

type MakeColumn = (id: string, title: string, rest: Partial<Column<User>>) => Column<User>

export function userColumns(t: TFunction, locale: string, actions: UserRowActions): Column<User>[] {
  const column: MakeColumn = (id, title, rest) => ({
    id,
    title,
    width: 92,
    cell: () => null,
    ...rest,
  })
  return [
    column('id', t('words.id'), {
      width: 54,
      onCard: 'bare',
      cell: (user) => <IdCell user={user} />,
    }),
    column('username', t('words.username'), {
      width: 112,
      isGrowing: true,
      isPinned: true,
      onCard: 'title',
      cell: (user) => <NameCell user={user} />,
    }),
    column('status', t('words.status'), {
      width: 122,
      onCard: 'aside',
      cell: (user) => <StateTag user={user} />,
    }),
    column('role', t('users.role'), {
      width: 114,
      onCard: 'bare',
      cell: (user) => <LevelTag user={user} />,
    }),
    column('group', t('ui.groupName'), {
      onCard: 'bare',
      cell: ({ group }) => <GroupTag name={group} />,
    }),
    ...figures(t, locale, column),
    column('invites', t('users.invites'), {
      width: 124,
      onCard: 'brief',
      cell: (user) => <InvitesCell user={user} />,
    }),
    column('created', t('words.created'), {
      width: 160,
      isHiddenAtFirst: true,
      cell: ({ created_time }) => <Time at={created_time} style="stamp" />,
    }),
    column('actions', t('words.actions'), {
      width: 92,
      isPinned: true,
      align: 'end',
      onCard: 'foot',
      cell: (user) => <UserMenu user={user} actions={actions} />,
    }),
  ]
}

function figures(t: TFunction, locale: string, column: MakeColumn): Column<User>[] {
  const count = new Intl.NumberFormat(locale)
  return [
    column('quota', t('words.balance'), {
      onCard: 'brief',
      align: 'end',
      cell: ({ quota }) => <Quota value={quotaOf(quota)} />,
    }),
    column('used', t('users.used'), {
      onCard: 'brief',
      align: 'end',
      cell: ({ used_quota }) => <Quota value={quotaOf(used_quota)} />,
    }),
    column('requests', t('words.requests'), {
      width: 86,
      onCard: 'brief',
      align: 'end',
      cell: ({ request_count }) => count.format(request_count),
    }),
  ]
}

const NOTHING = <span className="tg-quiet tg-on-table">–</span>

/** The actions that this admin may take on the user. Hidden if there are none. */
function UserMenu({ user, actions }: { user: User; actions: UserRowActions }) {
  const { t } = useTranslation()
  const acts = actionsOn(user, actions.actor)
  if (user.DeletedAt !== null || acts.size === 0) return NOTHING
  const name = calledOf(user)
  const entry = (action: 'promote' | 'demote', icon: 'arrowUp' | 'arrowDown'): MenuEntry[] =>
    acts.has(action)
      ? [{ text: t(`users.${action}`), icon, onChoose: () => actions.manage(user, action) }]
      : []
  const items: MenuEntry[] = [
    editEntry(() => actions.onEdit(user)),
    { text: t('users.adjust'), icon: 'wallet', onChoose: () => actions.onAdjust([user]) },
    ...entry('promote', 'arrowUp'),
    ...entry('demote', 'arrowDown'),
  ]
  if (acts.has('delete')) {
    items.push('divider', {
      text: t('users.delete'),
      icon: 'trash',
      tone: 'danger',
      onChoose: () => actions.manage(user, 'delete'),
    })
  }
  return (
    <span className="tg-row-actions">
      {(acts.has('disable') || acts.has('enable')) && (
        <RowSwitch
          label={t('users.toggle', { name })}
          isOn={user.status === 1}
          onToggle={() => void actions.setEnabled(user, user.status !== 1)}
        />
      )}
      <RowMenu items={items} label={t('words.moreFor', { name })} />
    </span>
  )
}
