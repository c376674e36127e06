import '../../ui/forms/forms.css'
import './channels.css'
import './testing/channel-tests.css'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router-dom'
import { ApiError } from '#console/api/api-error.ts'
import { channelsKey, channelsOfPage, channelsOfTagQuery } from '#console/api/channels.ts'
import type { LiveData } from '#console/api/live/live-event.ts'
import { useLiveTopic } from '#console/api/live/use-live-topic.ts'
import { useDrawerUrl } from '#console/ui/dialogs/use-drawer-url.ts'
import { CreateButton } from '#console/ui/elements/button.tsx'
import { adminPage } from '#console/ui/layout/admins-only-page.tsx'
import { ErrorState } from '#console/ui/layout/error-state.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { cachedRows } from '#console/ui/lists/cached-rows.ts'
import { showError } from '#console/ui/messages/toast.ts'
import type { Channel, ChannelEntry, TagGroup } from '#read-api/contract/channels.ts'
import { ChannelDrawer } from './form/channel-drawer.tsx'
import { LinkedUnpricedModelsStep, UnpricedModelsStep } from './form/unpriced-models-step.tsx'
import { ChannelList } from './list/channel-list.tsx'
import { changeChannels, channelsOf, isTagGroup } from './list/channel-rows.ts'
import { useChannelList } from './list/use-channel-list.ts'
import { type EditedTag, TagDialog } from './tags/tag-dialog.tsx'
import { AllChannelsTestResultsDrawer } from './testing/all-channels-test-results-drawer.tsx'
import { ChannelTestDialog } from './testing/channel-test-dialog.tsx'

function useLiveChannels(): void {
  const client = useQueryClient()
  const refetch = () => void client.invalidateQueries({ queryKey: channelsKey })
  const isReading = () => client.isFetching({ queryKey: channelsKey }) > 0
  const refetchSoon = useDelayedCall(refetch)
  useLiveTopic('channels', {
    onEvents: (rows) => {
      const entries = cachedRows<ChannelEntry>(client, channelsKey)
      const channelsById = new Map(channelsOf(entries).map((channel) => [channel.id, channel]))
      const newest = new Map(rows.map((row) => [row.id, row]))
      changeChannels(client, (channel) => newestOf(channel, newest))
      // Reloads the list after a channel was created, deleted or given another tag, because only
      // the server knows the new order.
      const isMoved = rows.some(
        (row) => 'deleted' in row || channelsById.get(row.id)?.tag !== row.tag,
      )
      if (rows.some((row) => 'deleted' in row && channelsById.has(row.id))) refetch()
      // The response to a pending list request may be older than the event and would undo the
      // change on screen. The list is therefore requested again.
      else if (isMoved || entries.some(isTagGroup) || isReading()) refetchSoon()
    },
    onResync: refetch,
  })
}

const DELAY_MS = 1_000

/**
 * Returns a function that runs `perform` at most once per second. Each call to a provider causes a
 * live event about its channel. Without this limit, each of these events would run `perform`.
 */
function useDelayedCall(perform: () => void): () => void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  return () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      perform()
    }, DELAY_MS)
  }
}

function newestOf(channel: Channel, newest: ReadonlyMap<number, LiveData['channels']>): Channel {
  const row = newest.get(channel.id)
  return row === undefined || 'deleted' in row ? channel : row
}

const PATHS = { list: '/admin/channels', add: '/channel/add', edit: '/channel/edit' }

export const ChannelsPage = adminPage('shell.channels', Channels)

function Channels() {
  const { t } = useTranslation()
  const drawer = useDrawerUrl(PATHS)
  const [tested, setTested] = useState<Channel | null>(null)
  const [tag, setTag] = useState<EditedTag | null>(null)
  const [areResultsShown, setResultsShown] = useState(false)
  const [unpriced, setUnpriced] = useState<{ isOpen: boolean; models: readonly string[] }>(NO_STEP)
  const navigate = useNavigate()
  const client = useQueryClient()
  const editTag = async (group: TagGroup) => {
    try {
      const page = await client.fetchQuery({ ...channelsOfTagQuery(group.tag), staleTime: 0 })
      setTag({ group, channels: channelsOfPage(page) })
    } catch (error) {
      showError(error)
    }
  }
  const view = useChannelList()
  const create = () => drawer.open('new')
  const closeStep = () => setUnpriced({ ...unpriced, isOpen: false })
  const { data, error } = view.list
  const isForbidden = error instanceof ApiError && error.status === 403
  return (
    <Page
      title={t('shell.channels')}
      lead={t('channels.lead')}
      actions={
        isForbidden ? undefined : <CreateButton text={t('shared.newChannel')} onClick={create} />
      }
    >
      {isForbidden ? (
        <Panel>
          <ErrorState error={error} />
        </Panel>
      ) : (
        <ChannelList
          view={view}
          onEdit={({ id }) => drawer.open(id)}
          onTest={setTested}
          onUnpriced={(models) => setUnpriced({ isOpen: true, models })}
          onEditTag={(group) => void editTag(group)}
          onTimeline={({ id }) => void navigate(`/admin/health?peek=${id}`)}
          onResults={() => setResultsShown(true)}
          onCreate={create}
        />
      )}
      {data !== undefined && <LiveChannels />}
      <ChannelDrawer edited={isForbidden ? null : drawer.edited} onClose={drawer.close} />
      <UnpricedModelsStep {...unpriced} onClose={closeStep} />
      {!isForbidden && <LinkedUnpricedModelsStep />}
      <ChannelTestDialog channel={tested} onClose={() => setTested(null)} />
      <AllChannelsTestResultsDrawer
        isOpen={areResultsShown}
        onClose={() => setResultsShown(false)}
      />
      <TagDialog edited={tag} onClose={() => setTag(null)} />
    </Page>
  )
}

const NO_STEP = { isOpen: false, models: [] }

/**
 * Subscribes to channel events. This is a component and not a hook, so that the page can leave it
 * out for users who may not see channels.
 */
function LiveChannels(): null {
  useLiveChannels()
  return null
}
