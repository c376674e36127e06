import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { groupsQuery } from '#console/api/groups.ts'
import { useLiveTopic } from '#console/api/live/use-live-topic.ts'
import type { ListPage } from '#console/api/request.ts'
import { usersKey } from '#console/api/users.ts'
import { useLocale } from '#console/i18n/use-locale.ts'
import { Button } from '#console/ui/button.tsx'
import { ColumnChooser } from '#console/ui/column-chooser.tsx'
import { useListCommands } from '#console/ui/commands/use-list-commands.ts'
import { DataGrid } from '#console/ui/data-grid/data-grid.tsx'
import { useColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'
import { EmptyState, ErrorState } from '#console/ui/empty-state.tsx'
import { Select } from '#console/ui/inputs.tsx'
import { Pagination } from '#console/ui/pagination.tsx'
import { Panel } from '#console/ui/panel.tsx'
import { SearchInput } from '#console/ui/search-input.tsx'
import { Toolbar } from '#console/ui/toolbar.tsx'
import { useThrottled } from '#console/ui/use-throttled.ts'
import type { User } from '#read-api/contract/users.ts'
import { ChosenUsers } from '../quota/chosen-users.tsx'
import { useChosenUsers } from '../quota/use-chosen-users.ts'
import type { Actor } from '../user-actions.ts'
import { useUserActions } from './use-user-actions.ts'
import type { UserListView } from './use-user-list.ts'
import { userColumns } from './user-columns.tsx'

type UserListProps = {
  view: UserListView
  actor: Actor
  onOpen: (user: User) => void
  onAdjust: (users: readonly User[]) => void
  onCreate: () => void
}

/** Every user, filtered, page by page, with what may be done to each. */
export function UserList(props: UserListProps): ReactElement {
  const { t } = useTranslation()
  const { view, onOpen } = props
  const { list, paging } = view
  const chosen = useChosenUsers(view.rows, props.actor)
  const layout = useUserLayout(props)
  const refresh = () => void list.refetch()
  useListCommands(t('users.create'), props.onCreate, t('users.refresh'), refresh)
  return (
    <Panel isFlush>
      <Toolbar
        label={t('users.filters')}
        end={
          <>
            <Button icon="refresh" label={t('users.refresh')} onClick={refresh} />
            <ColumnChooser layout={layout} />
          </>
        }
      >
        <UserFilters view={view} onQuery={refresh} />
      </Toolbar>
      <ChosenUsers chosen={chosen} onAdjust={props.onAdjust} />
      {list.data !== undefined && <LiveUsers />}
      {list.error !== null && list.data === undefined ? (
        <ErrorState error={list.error} onRetry={refresh} />
      ) : (
        <div className="tg-list-ended">
          <DataGrid
            label={t('users.grid')}
            rows={view.rows}
            rowKey={rowKey}
            layout={layout}
            total={paging.total}
            firstIndex={paging.page * paging.pageSize}
            isLoading={list.isPending}
            isRefetching={list.isPlaceholderData}
            isMuted={isMuted}
            onOpen={onOpen}
            openText={t('users.open')}
            selection={{ keys: chosen.keys, onChange: chosen.choose }}
            empty={<NoUsers onClear={view.clear} />}
          />
        </div>
      )}
      <Pagination {...paging} />
    </Panel>
  )
}

const rowKey = (user: User): string => String(user.id)
const isMuted = (user: User): boolean => user.status !== 1 || user.DeletedAt !== null

/** Begins with rows to keep: who may not read them is not asked again. */
function LiveUsers(): null {
  useLiveUsers()
  return null
}

function useUserLayout({
  actor,
  onOpen,
  onAdjust,
}: Pick<UserListProps, 'actor' | 'onOpen' | 'onAdjust'>) {
  const { t } = useTranslation()
  const locale = useLocale()
  const { setEnabled, manage } = useUserActions()
  const columns = useMemo(
    () => userColumns(t, locale, { actor, setEnabled, manage, onEdit: onOpen, onAdjust }),
    [t, locale, actor, setEnabled, manage, onOpen, onAdjust],
  )
  return useColumnLayout('users-table-columns', columns)
}

function UserFilters(props: { view: UserListView; onQuery: () => void }): ReactElement {
  const { filter, isFiltered, setFilter, clear } = props.view
  const { t } = useTranslation()
  const groups = useQuery(groupsQuery).data ?? []
  const names = filter.group === '' ? groups : [...new Set([...groups, filter.group])]
  return (
    <>
      <SearchInput
        icon="search"
        label={t('users.search')}
        value={filter.keyword}
        onChange={(keyword) => setFilter({ keyword }, { isTyping: true })}
      />
      <Select
        aria-label={t('users.searchGroup')}
        value={filter.group}
        choices={[
          { value: '', label: t('users.anyGroup') },
          ...names.map((name) => ({ value: name, label: name })),
        ]}
        onChange={(group) => setFilter({ group })}
      />
      <Button onClick={props.onQuery}>{t('users.query')}</Button>
      {isFiltered && (
        <Button tone="quiet" icon="close" onClick={clear}>
          {t('users.clear')}
        </Button>
      )}
    </>
  )
}

/** There is always somebody: who looks. */
function NoUsers({ onClear }: { onClear: () => void }): ReactElement {
  const { t } = useTranslation()
  return (
    <EmptyState
      icon="search"
      title={t('users.notFoundTitle')}
      body={t('users.notFoundBody')}
      action={<Button onClick={onClear}>{t('users.clear')}</Button>}
    />
  )
}

const EVERY_MS = 2_000

/**
 * Calls and changes of balances of those on screen, and whatever was made of any user elsewhere:
 * the rows are read again, not too often.
 */
function useLiveUsers(): void {
  const client = useQueryClient()
  const readAgain = useThrottled(
    () => void client.invalidateQueries({ queryKey: usersKey }),
    EVERY_MS,
  )
  useLiveTopic('logs', {
    onEvents: (rows) => {
      const pages = client.getQueriesData<ListPage<User>>({ queryKey: usersKey })
      const shown = new Set(pages.flatMap(([, page]) => page?.items.map(({ id }) => id) ?? []))
      if (rows.some(({ user_id }) => shown.has(user_id))) readAgain()
    },
    onResync: readAgain,
  })
  // A new one moves the others, and one that was not found may be found now.
  useLiveTopic('users', { onEvents: readAgain, onResync: readAgain })
}
