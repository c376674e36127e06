import { useCallback, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { useRegisterActions } from '#console/ui/actions/action-registry.ts'
import { Button } from '#console/ui/elements/button.tsx'
import type { IconName } from '#console/ui/elements/icons.tsx'
import { MenuButton } from '#console/ui/elements/menu.tsx'
import { ListPanel } from '#console/ui/lists/list-panel.tsx'
import { showInfo, showSuccess } from '#console/ui/messages/toast.ts'
import { useIsNarrow } from '#console/ui/state/use-media-query.ts'
import type { Channel, TagGroup } from '#read-api/contract/channels.ts'
import { parseNames } from '../form/channel-draft.ts'
import { ChannelTestProgressBar, useTestAllChannels } from '../testing/channel-test-progress.tsx'
import { useUnpricedModels } from '../unpriced-models-tag.tsx'
import { useChannelTypes } from '../use-channel-types.ts'
import { BulkActionsBar } from './bulk-actions-bar.tsx'
import { ChannelNote } from './channel-cells.tsx'
import { channelColumns } from './channel-columns.tsx'
import { ChannelFilterFields, ChannelModes, collapsedFilterCount } from './channel-filters.tsx'
import { type ChannelRow, isMuted, rowKey } from './channel-rows.ts'
import { type ChannelListView, useExpandedTags, useSelectedChannels } from './use-channel-list.ts'
import { type ChannelListActions, useChannelListActions } from './use-channel-list-actions.ts'
import { useChannelMutation } from './use-channel-mutation.ts'

type ListAction =
  | 'testAll'
  | 'lastResults'
  | 'updateBalances'
  | 'repairModelIndex'
  | 'deleteDisabled'

function useListActions(actions: ChannelListActions, onResults: () => void) {
  const { t } = useTranslation()
  const perform = useChannelMutation()
  const testAll = useTestAllChannels()
  const action = (name: ListAction, icon: IconName, perform: () => void) => ({
    id: `channels-${name}`,
    title: t(`channels.${name}`),
    icon,
    perform,
  })
  const updateBalances = () =>
    perform(async () => {
      const { updated, failed, left } = await call('GET /api/channel/update_balance')
      const showResult = failed + left > 0 ? showInfo : showSuccess
      showResult(t('channels.balancesUpdated', { updated, failed: failed + left }))
    })
  const fix = async () => {
    if (await perform(() => call('POST /api/channel/fix')))
      showSuccess(t('channels.modelIndexRepaired'))
  }
  const listActions = [
    action('testAll', 'zap', () => void testAll()),
    action('lastResults', 'list', onResults),
    action('updateBalances', 'refresh', () => void updateBalances()),
    action('repairModelIndex', 'settings', () => void fix()),
  ]
  const deleteDisabled = action('deleteDisabled', 'trash', () => void actions.removeDisabled())
  useRegisterActions([...listActions, deleteDisabled])
  return [...listActions, 'divider', { ...deleteDisabled, tone: 'danger' }] as const
}

const noteOf = (line: ChannelRow) =>
  line.kind === 'channel' ? <ChannelNote channel={line.channel} /> : null

function useUnpricedOf(): (channel: Channel) => readonly string[] {
  const unpriced = useUnpricedModels()
  return useCallback(
    ({ models, model_prefix: prefix }) => unpriced({ models: parseNames(models), prefix }),
    [unpriced],
  )
}

export function ChannelList(props: {
  view: ChannelListView
  onEdit: (channel: Channel) => void
  onTest: (channel: Channel) => void
  onUnpriced: (models: readonly string[]) => void
  onEditTag: (group: TagGroup) => void
  onTimeline: (channel: Channel) => void
  onResults: () => void
  onCreate: () => void
}) {
  const { view } = props
  const { filter, modes } = view
  const { t } = useTranslation()
  const types = useChannelTypes()
  const tree = useExpandedTags(view)
  const selected = useSelectedChannels(view)
  const isNarrow = useIsNarrow()
  const [isUnfolded, setUnfolded] = useState(false)
  const unpricedOf = useUnpricedOf()
  const actions = useChannelListActions({
    ...props,
    onUnpriced: (channel) => props.onUnpriced(unpricedOf(channel)),
    onOpenTag: tree.toggle,
  })
  const menuItems = useListActions(actions, props.onResults)
  const { isSelecting } = modes
  const columns = useMemo(
    () => channelColumns(t, { ...types, unpricedOf }, actions, isSelecting),
    [t, types, unpricedOf, actions, isSelecting],
  )
  const open = (line: ChannelRow) =>
    line.kind === 'tag' ? tree.toggle(line.group) : props.onEdit(line.channel)
  const foldedOn = collapsedFilterCount(filter)
  return (
    <div className="tg-channel-list">
      <ListPanel
        label={t('channels.grid')}
        view={{ ...view, rows: tree.lines }}
        layoutKey="channels-table-columns"
        columns={columns}
        rowKey={rowKey}
        filters={
          <ChannelFilterFields
            view={view}
            types={types.types.map(({ id, name }) => ({ value: String(id), label: name }))}
            isFolded={isNarrow && !isUnfolded}
          />
        }
        isClearable
        create={{ text: t('shared.newChannel'), perform: props.onCreate }}
        none={{ icon: 'channels', title: t('shared.noChannels'), body: t('channels.noneBody') }}
        notFound={{ title: t('shared.noChannelMatches'), body: t('channels.notFoundBody') }}
        modes={
          <>
            {isNarrow && (
              <Button
                icon="filter"
                isExpanded={isUnfolded}
                onClick={() => setUnfolded(!isUnfolded)}
              >
                {foldedOn === 0 ? t('ui.filters') : t('shared.filtersCount', { count: foldedOn })}
              </Button>
            )}
            <ChannelModes modes={modes} />
          </>
        }
        tools={
          <MenuButton items={menuItems}>
            <Button icon="more" label={t('channels.moreActions')} />
          </MenuButton>
        }
        notice={
          view.list.data !== undefined && <ChannelTestProgressBar onResults={props.onResults} />
        }
        selectionBar={isSelecting && <BulkActionsBar selected={selected} actions={actions} />}
        isMuted={isMuted}
        isLastColumnSticky
        cardNote={noteOf}
        onOpen={open}
        {...(modes.isTagMode ? { branch: tree.branch } : {})}
        {...(isSelecting ? { selection: selected.selection } : {})}
      />
    </div>
  )
}
