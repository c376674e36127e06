import { type ReactElement, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { request } from '#console/api/request.ts'
import { Button } from '#console/ui/button.tsx'
import { ColumnChooser } from '#console/ui/column-chooser.tsx'
import { useListCommands } from '#console/ui/commands/use-list-commands.ts'
import { DataGrid } from '#console/ui/data-grid/data-grid.tsx'
import { useColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'
import { EmptyState, ErrorState } from '#console/ui/empty-state.tsx'
import type { MenuEntry } from '#console/ui/menu.tsx'
import { Pagination } from '#console/ui/pagination.tsx'
import { Panel } from '#console/ui/panel.tsx'
import { showError, showSuccess } from '#console/ui/toast.ts'
import type { Channel, TagGroup } from '#read-api/contract/channels.ts'
import { TestProgressBar } from '../testing/test-progress.tsx'
import { useTestAll } from '../testing/use-test-all.ts'
import { useTypeFacts } from '../use-type-facts.ts'
import { BatchBar } from './batch-bar.tsx'
import { isFiltered, NO_FILTERS, sortAfter } from './channel-address.ts'
import { ChannelNote } from './channel-cells.tsx'
import { channelColumns } from './channel-columns.tsx'
import { type ChannelLine, isMuted, lineKey } from './channel-lines.ts'
import { ChannelToolbar } from './channel-toolbar.tsx'
import { useBalanceActions } from './use-balance-actions.ts'
import { useBatchActions } from './use-batch-actions.ts'
import { useChannelAction } from './use-channel-action.ts'
import { useChannelActions } from './use-channel-actions.ts'
import type { ChannelListView } from './use-channel-list.ts'
import { useChosen } from './use-chosen.ts'
import { useRemovals } from './use-removals.ts'
import { useTree } from './use-tree.ts'

/** What is done to all channels at once, as entries of a menu. */
function useListActions(given: {
  removeDisabled: () => Promise<void>
  onResults: () => void
}): MenuEntry[] {
  const { t } = useTranslation()
  const act = useChannelAction()
  const { updateAll } = useBalanceActions()
  const testAll = useTestAll()
  const fix = async () => {
    if (await act(fixAbilities)) showSuccess(t('channels.fixed'))
  }
  return [
    { id: 'test', text: t('channels.testAll'), icon: 'zap', onChoose: () => void testAll() },
    { id: 'results', text: t('channels.lastResults'), icon: 'list', onChoose: given.onResults },
    {
      id: 'balances',
      text: t('channels.updateBalances'),
      icon: 'refresh',
      onChoose: () => void updateAll(),
    },
    { id: 'fix', text: t('channels.fix'), icon: 'settings', onChoose: () => void fix() },
    'divider',
    {
      id: 'disabled',
      text: t('channels.deleteDisabled'),
      icon: 'trash',
      tone: 'danger',
      onChoose: () => void given.removeDisabled(),
    },
  ]
}

/** Makes the list of who serves what anew, from the channels as they are. */
async function fixAbilities(): Promise<void> {
  await request({ method: 'POST', path: '/api/channel/fix' })
}

/** Nothing there yet, or nothing that the filters let through. */
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

const noteOf = (line: ChannelLine): ReactElement | null =>
  line.kind === 'channel' ? <ChannelNote channel={line.channel} /> : null

/** The table of channels, with what narrows, orders and gathers it, and what can be done. */
export function ChannelList(props: {
  view: ChannelListView
  onEdit: (channel: Channel) => void
  onTest: (channel: Channel) => void
  onEditTag: (group: TagGroup) => void
  onTimeline: (channel: Channel) => void
  onResults: () => void
  onCreate: () => void
}): ReactElement {
  const { view } = props
  const { filters, list, modes } = view
  const { t } = useTranslation()
  const types = useTypeFacts()
  const removals = useRemovals()
  const batch = useBatchActions()
  const tree = useTree(view)
  const chosen = useChosen(view)
  const actions = useChannelActions({ ...props, remove: removals.remove, onOpenTag: tree.toggle })
  const { isBatch } = modes
  const columns = useMemo(
    () => channelColumns(t, types, actions, isBatch),
    [t, types, actions, isBatch],
  )
  const layout = useColumnLayout('channels-table-columns', columns)
  const refresh = async () => {
    if ((await list.refetch()).isError) showError(t('channels.refreshFailed'))
  }
  useListCommands(t('channels.create'), props.onCreate, t('channels.refresh'), () => void refresh())
  const open = (line: ChannelLine) =>
    line.kind === 'tag' ? tree.toggle(line.group) : props.onEdit(line.channel)
  return (
    <Panel isFlush>
      <ChannelToolbar
        modes={modes}
        acts={useListActions({ ...removals, onResults: props.onResults })}
        onRefresh={() => void refresh()}
        columns={<ColumnChooser layout={layout} />}
        filters={{
          filters,
          types: types.types.map(({ id, name }) => ({ value: String(id), label: name })),
          onFilters: view.setFilters,
        }}
      />
      {list.data !== undefined && <TestProgressBar onResults={props.onResults} />}
      {list.error !== null && list.data === undefined ? (
        <ErrorState error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <div className="tg-list-ended tg-channel-list">
          <DataGrid
            label={t('channels.grid')}
            rows={tree.lines}
            rowKey={lineKey}
            layout={layout}
            isLoading={list.isPending}
            isRefetching={list.isPlaceholderData}
            isMuted={isMuted}
            cardNote={noteOf}
            onOpen={open}
            sort={view.sort}
            onSort={(asked) => view.setAddress(sortAfter(view.sort, asked))}
            {...(modes.isTagMode ? { branch: tree.branch } : view.counts)}
            {...(isBatch ? { selection: chosen.selection } : {})}
            empty={
              <NoChannels
                isFiltered={isFiltered(filters)}
                onClear={() => view.setFilters(NO_FILTERS)}
                onCreate={props.onCreate}
              />
            }
          />
        </div>
      )}
      {isBatch && <BatchBar chosen={chosen} batch={batch} remove={removals.remove} />}
      <Pagination
        page={view.page}
        pageSize={view.pageSize}
        total={list.data?.total ?? 0}
        onPage={(page, how) => view.setAddress({ page }, how)}
        onPageSize={view.setPageSize}
      />
    </Panel>
  )
}
