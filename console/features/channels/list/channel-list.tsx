import { type ReactElement, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { ColumnChooser } from '#console/ui/column-chooser.tsx'
import { useListCommands } from '#console/ui/commands/use-list-commands.ts'
import { DataGrid } from '#console/ui/data-grid/data-grid.tsx'
import { useColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'
import { ErrorState } from '#console/ui/empty-state.tsx'
import { Pagination } from '#console/ui/pagination.tsx'
import { Panel } from '#console/ui/panel.tsx'
import { showError } from '#console/ui/toast.ts'
import type { Channel, TagGroup } from '#read-api/contract/channel.ts'
import { TestProgressBar } from '../testing/test-progress.tsx'
import { useTypeFacts } from '../use-type-facts.ts'
import { BatchBar } from './batch-bar.tsx'
import { isFiltered, NO_FILTERS, sortAfter } from './channel-address.ts'
import { ChannelNote } from './channel-cells.tsx'
import { channelColumns } from './channel-columns.tsx'
import { type ChannelLine, isMuted, lineKey } from './channel-lines.ts'
import { ChannelToolbar } from './channel-toolbar.tsx'
import { NoChannels } from './no-channels.tsx'
import { useBatchActions } from './use-batch-actions.ts'
import { useChannelActions } from './use-channel-actions.ts'
import type { ChannelListView } from './use-channel-list.ts'
import { useChosen } from './use-chosen.ts'
import { useListActions } from './use-list-actions.ts'
import { useRemovals } from './use-removals.ts'
import { useTree } from './use-tree.ts'

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
