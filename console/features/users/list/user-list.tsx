import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLiveTopic } from '#console/api/live/use-live-topic.ts'
import { groupsQuery } from '#console/api/own-user-group-and-model-queries.ts'
import type { ListPage } from '#console/api/request.ts'
import { usersKey, usersQuery } from '#console/api/user-queries.ts'
import { useLocale } from '#console/i18n/use-locale-and-number-format.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { KeywordFilter, ListPanel, rowId } from '#console/ui/lists/list-panel.tsx'
import { listUrlParams } from '#console/ui/lists/list-url-params.ts'
import { GroupFilter } from '#console/ui/lists/select-filter.tsx'
import { useListPage } from '#console/ui/lists/use-list-page.ts'
import { useThrottledCallback } from '#console/ui/state/throttle-debounce-and-live-refetch.ts'
import { textParam } from '#console/ui/state/url-state.ts'
import type { User } from '#read-api/contract/users.ts'
import { type Actor, permittedActions } from '../user-state-and-permitted-actions.ts'
import { useUserActions } from './use-user-actions.ts'
import { userColumns } from './user-columns.tsx'

const SORTS = {
  id: 'id',
  username: 'username',
  status: 'status',
  role: 'role',
  group: 'group',
  quota: 'quota',
  used: 'used_quota',
  requests: 'request_count',
  invites: 'aff_count',
  created: 'created_time',
}

const URL_PARAMS = listUrlParams(
  { keyword: textParam(), group: textParam() },
  { sorts: SORTS, isKeyset: true },
)

export const useUserList = () =>
  useListPage(URL_PARAMS, (query) => ({
    ...usersQuery(query),
    refetchOnWindowFocus: 'always',
  }))

type UserListView = ReturnType<typeof useUserList>

type UserListProps = {
  view: UserListView
  actor: Actor
  onOpen: (user: User) => void
  onAdjust: (users: readonly User[]) => void
  onCreate: () => void
}

export function UserList(props: UserListProps) {
  const { t } = useTranslation()
  const { view, actor } = props
  const columns = useUserColumns(props)
  const [keys, setKeys] = useState<ReadonlySet<string>>(NONE)
  const selectedRows = view.rows.filter(({ id }) => keys.has(String(id)))
  return (
    <ListPanel
      label={t('users.grid')}
      view={view}
      layoutKey="users-table-columns"
      columns={columns}
      rowKey={rowId}
      filters={<UserFilters view={view} />}
      isClearable
      create={{ text: t('users.create'), perform: props.onCreate }}
      notFound={{ title: t('users.notFoundTitle'), body: t('users.notFoundBody') }}
      notice={view.list.data !== undefined && <LiveUsers />}
      selectionBar={
        selectedRows.length > 0 && (
          <SelectedUsers
            selectedRows={selectedRows}
            adjustable={selectedRows.filter((user) => permittedActions(user, actor).has('adjust'))}
            onAdjust={props.onAdjust}
            onNone={() => setKeys(NONE)}
          />
        )
      }
      isMuted={isMuted}
      isLastColumnSticky
      onOpen={props.onOpen}
      openText={t('shared.details')}
      selection={{ keys, onChange: setKeys }}
    />
  )
}

const NONE: ReadonlySet<string> = new Set()
const isMuted = (user: User): boolean => user.status !== 1 || user.DeletedAt !== null

/**
 * Subscribes to live events about users. This is a component and not a hook, so that the page can
 * leave it out for users who may not see the list.
 */
function LiveUsers(): null {
  useLiveUsers()
  return null
}

function useUserColumns({ actor, onOpen, onAdjust }: UserListProps) {
  const { t } = useTranslation()
  const locale = useLocale()
  const { setEnabled, manage } = useUserActions()
  return useMemo(
    () => userColumns(t, locale, { actor, setEnabled, manage, onEdit: onOpen, onAdjust }),
    [t, locale, actor, setEnabled, manage, onOpen, onAdjust],
  )
}

function UserFilters({ view }: { view: UserListView }) {
  const { filter, setFilter, refresh } = view
  const { t } = useTranslation()
  const groups = useQuery(groupsQuery).data ?? []
  return (
    <>
      <KeywordFilter label={t('users.search')} view={view} />
      <GroupFilter
        groups={groups}
        value={filter.group}
        onChange={(group) => setFilter({ group })}
      />
      <Button onClick={refresh}>{t('shared.searchAction')}</Button>
    </>
  )
}

/**
 * The bar for selected users. `adjustable` contains the selected users whose balance this admin may
 * change.
 */
function SelectedUsers(props: {
  selectedRows: readonly User[]
  adjustable: readonly User[]
  onAdjust: (users: readonly User[]) => void
  onNone: () => void
}) {
  const { t } = useTranslation()
  const { selectedRows, adjustable } = props
  const notAdjustable = selectedRows.length - adjustable.length
  return (
    <fieldset className="tg-selection tg-bulk" aria-label={t('users.selection')}>
      <span role="status">
        {t('shared.usersSelected', { count: selectedRows.length })}
        {notAdjustable > 0 && ` · ${t('users.selectedBeyond', { count: notAdjustable })}`}
      </span>
      <Button tone="quiet" size="small" onClick={props.onNone}>
        {t('ui.clearSelection')}
      </Button>
      <Button
        size="small"
        icon="wallet"
        isDisabled={adjustable.length === 0}
        onClick={() => props.onAdjust(adjustable)}
      >
        {t('users.adjust')}
      </Button>
    </fieldset>
  )
}

const REFETCH_INTERVAL_MIN_MS = 2_000

/**
 * Reads the list again after a call or a balance change of a listed user, and after any change of a
 * user.
 */
function useLiveUsers(): void {
  const client = useQueryClient()
  const refetch = useThrottledCallback(
    () => void client.invalidateQueries({ queryKey: usersKey }),
    REFETCH_INTERVAL_MIN_MS,
  )
  useLiveTopic('logs', {
    onEvents: (rows) => {
      const pages = client.getQueriesData<ListPage<User>>({ queryKey: usersKey })
      const listedIds = new Set(pages.flatMap(([, page]) => page?.items.map(({ id }) => id) ?? []))
      if (rows.some(({ user_id }) => listedIds.has(user_id))) refetch()
    },
    onResync: refetch,
  })
  // A change can make a user match the filters, so every change reloads the list.
  useLiveTopic('users', { onEvents: refetch, onResync: refetch })
}
