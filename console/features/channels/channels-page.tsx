import { useQuery } from '@tanstack/react-query'
import { type ReactElement, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError } from '#console/api/api-error.ts'
import { channelsQuery } from '#console/api/channels/list-channels.ts'
import { isAdmin } from '#console/api/session.ts'
import { useUser } from '#console/api/use-user.ts'
import { Button } from '#console/ui/button.tsx'
import { ColumnChooser } from '#console/ui/column-chooser.tsx'
import { useListCommands } from '#console/ui/commands/use-list-commands.ts'
import { DataGrid } from '#console/ui/data-grid/data-grid.tsx'
import { useColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'
import { EmptyState, ErrorState } from '#console/ui/empty-state.tsx'
import { Page } from '#console/ui/page.tsx'
import { Pagination, usePageSize } from '#console/ui/pagination.tsx'
import { Panel } from '#console/ui/panel.tsx'
import { showError } from '#console/ui/toast.ts'
import { integerParam, textParam } from '#console/ui/url-state.ts'
import { useUrlState } from '#console/ui/use-url-state.ts'
import type { Channel } from '#read-api/contract/channel.ts'
import { channelColumns } from './channel-columns.tsx'
import { ChannelDrawer } from './channel-drawer.tsx'
import { ChannelToolbar } from './channel-toolbar.tsx'
import { useChannelActions } from './use-channel-actions.ts'
import { useLiveChannels } from './use-live-channels.ts'
import '#console/ui/forms.css'
import './channels.css'

const ADDRESS = {
  keyword: textParam(),
  model: textParam(),
  group: textParam(),
  page: integerParam({ fallback: 0, max: 1_000_000 }),
}

/** The upstream channels: list, search, create, edit, switch off, delete; statuses live. */
export function ChannelsPage(): ReactElement {
  const { t } = useTranslation()
  return isAdmin(useUser()) ? (
    <Channels />
  ) : (
    <Page title={t('channels.title')}>
      <Panel>
        <EmptyState icon="eyeOff" title={t('ui.forbidden')} />
      </Panel>
    </Page>
  )
}

function Channels(): ReactElement {
  const { t } = useTranslation()
  const [edited, setEdited] = useState<Channel | 'new' | null>(null)
  const view = useChannelList()
  const create = () => setEdited('new')
  const { data, error } = view.list
  const isForbidden = error instanceof ApiError && error.status === 403
  return (
    <Page
      title={t('channels.title')}
      lead={t('channels.lead')}
      actions={
        isForbidden ? undefined : (
          <Button tone="primary" icon="add" onClick={create}>
            {t('channels.create')}
          </Button>
        )
      }
    >
      {isForbidden ? (
        <Panel>
          <ErrorState error={error} />
        </Panel>
      ) : (
        <ChannelList view={view} onEdit={setEdited} onCreate={create} />
      )}
      {data !== undefined && <LiveChannels />}
      <ChannelDrawer edited={edited} onClose={() => setEdited(null)} />
    </Page>
  )
}

/** Begins with rows to keep: who may not read them is not asked again. */
function LiveChannels(): null {
  useLiveChannels()
  return null
}

/** What the address asks for, and its rows. */
function useChannelList() {
  const [filters, setFilters] = useUrlState(ADDRESS)
  const [pageSize, setPageSize] = usePageSize()
  const list = useQuery({
    ...channelsQuery({ ...filters, pageSize }),
    // Every call changes what a channel has served.
    refetchOnMount: 'always',
  })
  return { filters, setFilters, pageSize, setPageSize, list }
}

function ChannelList(props: {
  view: ReturnType<typeof useChannelList>
  onEdit: (channel: Channel) => void
  onCreate: () => void
}): ReactElement {
  const { onEdit } = props
  const { filters, setFilters, pageSize, setPageSize, list } = props.view
  const { t } = useTranslation()
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const actions = useChannelActions()
  const refresh = async () => {
    if ((await list.refetch()).isError) showError(t('channels.refreshFailed'))
  }
  const columns = useMemo(
    () =>
      channelColumns(t, {
        onToggle: (channel) => void actions.setEnabled(channel, channel.status !== 1),
        onNumber: (channel, field, value) => void actions.setNumber(channel, field, value),
        onEdit,
        onDelete: (channel) => void actions.remove([channel]),
      }),
    [t, actions, onEdit],
  )
  const layout = useColumnLayout('channels-table-columns', columns)
  useListCommands(t('channels.create'), props.onCreate, t('channels.refresh'), () => void refresh())
  const rows = list.data?.items ?? []
  return (
    <Panel isFlush>
      <ChannelToolbar
        filters={filters}
        picked={rows.filter(({ id }) => chosen.has(String(id)))}
        actions={actions}
        onFilters={(patch, options) => setFilters({ ...patch, page: 0 }, options)}
        onRefresh={() => void refresh()}
        onDone={() => setChosen(new Set())}
        columns={<ColumnChooser layout={layout} />}
      />
      {list.error !== null && list.data === undefined ? (
        <ErrorState error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <div className="tg-list-ended">
          <DataGrid
            label={t('channels.grid')}
            rows={rows}
            rowKey={rowKey}
            layout={layout}
            total={list.data?.total ?? 0}
            firstIndex={filters.page * pageSize}
            isLoading={list.isPending}
            isRefetching={list.isPlaceholderData}
            isMuted={isMuted}
            onOpen={onEdit}
            selection={{ keys: chosen, onChange: setChosen }}
            empty={
              <NoChannels
                isFiltered={filters.keyword + filters.model + filters.group !== ''}
                onClear={() => setFilters({ keyword: '', model: '', group: '', page: 0 })}
                onCreate={props.onCreate}
              />
            }
          />
        </div>
      )}
      <Pagination
        page={filters.page}
        pageSize={pageSize}
        total={list.data?.total ?? 0}
        onPage={(page) => setFilters({ page })}
        onPageSize={(size) => {
          setPageSize(size)
          setFilters({ page: 0 })
        }}
      />
    </Panel>
  )
}

const rowKey = (channel: Channel): string => String(channel.id)
const isMuted = (channel: Channel): boolean => channel.status !== 1

function NoChannels(props: {
  isFiltered: boolean
  onClear: () => void
  onCreate: () => void
}): ReactElement {
  const { t } = useTranslation()
  const clear = <Button onClick={props.onClear}>{t('channels.clear')}</Button>
  const create = (
    <Button tone="primary" icon="add" onClick={props.onCreate}>
      {t('channels.create')}
    </Button>
  )
  return props.isFiltered ? (
    <EmptyState
      icon="search"
      title={t('channels.notFoundTitle')}
      body={t('channels.notFoundBody')}
      action={clear}
    />
  ) : (
    <EmptyState
      icon="channels"
      title={t('channels.noneTitle')}
      body={t('channels.noneBody')}
      action={create}
    />
  )
}
