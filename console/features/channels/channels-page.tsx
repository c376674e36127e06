import { useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router-dom'
import { ApiError } from '#console/api/api-error.ts'
import { channelsOfTagQuery, wholeChannels } from '#console/api/channels/channels-of-tag.ts'
import { isAdmin } from '#console/api/session.ts'
import { useUser } from '#console/api/use-user.ts'
import { AdminsOnlyPage } from '#console/ui/admins-only-page.tsx'
import { Button } from '#console/ui/button.tsx'
import { ErrorState } from '#console/ui/empty-state.tsx'
import { Page } from '#console/ui/page.tsx'
import { Panel } from '#console/ui/panel.tsx'
import { showError } from '#console/ui/toast.ts'
import type { Channel, TagGroup } from '#read-api/contract/channel.ts'
import { ChannelDrawer } from './form/channel-drawer.tsx'
import { ChannelList } from './list/channel-list.tsx'
import { useChannelList } from './list/use-channel-list.ts'
import { useLiveChannels } from './list/use-live-channels.ts'
import { type EditedTag, TagEditor } from './tags/tag-editor.tsx'
import { ResultsDrawer } from './testing/results-drawer.tsx'
import { TestDialog } from './testing/test-dialog.tsx'
import { useDrawerAddress } from './use-drawer-address.ts'
import '#console/ui/forms.css'
import './channels.css'
import './testing/testing.css'

/** The upstream channels: list, search, create, edit, test, gather by tag; statuses live. */
export function ChannelsPage(): ReactElement {
  const { t } = useTranslation()
  return isAdmin(useUser()) ? <Channels /> : <AdminsOnlyPage title={t('channels.title')} />
}

function Channels(): ReactElement {
  const { t } = useTranslation()
  const drawer = useDrawerAddress()
  const [tested, setTested] = useState<Channel | null>(null)
  const [tag, setTag] = useState<EditedTag | null>(null)
  const [areResultsShown, setResultsShown] = useState(false)
  const navigate = useNavigate()
  const client = useQueryClient()
  const editTag = async (group: TagGroup) => {
    try {
      const page = await client.fetchQuery({ ...channelsOfTagQuery(group.tag), staleTime: 0 })
      setTag({ group, channels: wholeChannels(page) })
    } catch (error) {
      showError(error)
    }
  }
  const view = useChannelList()
  const create = () => drawer.open('new')
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
        <ChannelList
          view={view}
          onEdit={({ id }) => drawer.open(id)}
          onTest={setTested}
          onEditTag={(group) => void editTag(group)}
          onTimeline={({ id }) => void navigate(`/admin/health?peek=${id}`)}
          onResults={() => setResultsShown(true)}
          onCreate={create}
        />
      )}
      {data !== undefined && <LiveChannels />}
      <ChannelDrawer edited={isForbidden ? null : drawer.edited} onClose={drawer.close} />
      <TestDialog channel={tested} onClose={() => setTested(null)} />
      <ResultsDrawer isOpen={areResultsShown} onClose={() => setResultsShown(false)} />
      <TagEditor edited={tag} onClose={() => setTag(null)} />
    </Page>
  )
}

/** Begins with rows to keep: who may not read them is not asked again. */
function LiveChannels(): null {
  useLiveChannels()
  return null
}
