import { useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { createChannel } from '#console/api/channels/create-channel.ts'
import { channelsKey } from '#console/api/channels/list-channels.ts'
import { updateChannel } from '#console/api/channels/update-channel.ts'
import { confirm } from '#console/ui/confirm.tsx'
import { FormDrawer } from '#console/ui/form-drawer.tsx'
import { showSuccess } from '#console/ui/toast.ts'
import { focusFirstFault, useSubmit } from '#console/ui/use-submit.ts'
import type { Channel } from '#read-api/contract/channel.ts'
import {
  type ChannelDraft,
  type ChannelFaults,
  changedChannel,
  channelFaults,
  draftOfChannel,
  endsInVersion,
  newChannel,
  termsOfChannel,
} from './channel-draft.ts'
import { ChannelForm } from './channel-form.tsx'
import { relayAddress } from './channel-types.ts'

type ChannelDrawerProps = { edited: Channel | 'new' | null; onClose: () => void }

/** Creates a channel, or changes one. Mounted anew for each, so that no draft is left over. */
export function ChannelDrawer(props: ChannelDrawerProps): ReactElement {
  const last = useRef<Channel | 'new'>('new')
  if (props.edited !== null) last.current = props.edited
  const key = last.current === 'new' ? 'new' : last.current.id
  return <OpenDrawer key={`${key}-${props.edited === null}`} {...props} channel={last.current} />
}

function OpenDrawer(props: ChannelDrawerProps & { channel: Channel | 'new' }): ReactElement {
  const { channel } = props
  const { t } = useTranslation()
  const form = useRef<HTMLFormElement>(null)
  const [before] = useState(() => (channel === 'new' ? newChannel : draftOfChannel(channel)))
  const [draft, setDraft] = useState<ChannelDraft>(before)
  const [faults, setFaults] = useState<ChannelFaults>({})
  const stored = channel === 'new' ? null : before
  const save = useSave(props)
  const { isBusy, submit } = useSubmit(async () => {
    const found = channelFaults(draft, stored)
    setFaults(found)
    if (Object.keys(found).length > 0) return focusFirstFault(form)
    await save(before, draft)
  }, props.onClose)
  const change = (next: ChannelDraft) => {
    setDraft(next)
    if (Object.keys(faults).length > 0) setFaults(channelFaults(next, stored))
  }
  const title =
    channel === 'new' ? t('channels.createTitle') : t('channels.editTitle', { name: channel.name })
  return (
    <FormDrawer
      isOpen={props.edited !== null}
      title={title}
      lead={t('channels.createLead')}
      submitText={t(channel === 'new' ? 'channels.createAction' : 'channels.saveAction')}
      form={form}
      isChanged={JSON.stringify(draft) !== JSON.stringify(before)}
      isBusy={isBusy}
      onSubmit={() => void submit()}
      onClose={props.onClose}
    >
      <ChannelForm draft={draft} stored={stored} faults={faults} onChange={change} />
    </FormDrawer>
  )
}

function useSave(props: ChannelDrawerProps & { channel: Channel | 'new' }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  return async (before: ChannelDraft, draft: ChannelDraft) => {
    const isNewAddress = props.channel === 'new' || draft.baseUrl !== before.baseUrl
    if (isNewAddress && endsInVersion(draft.baseUrl) && !(await confirmVersion(draft))) {
      return
    }
    if (props.channel === 'new') await createChannel(termsOfChannel(draft))
    else {
      const changed = changedChannel(before, draft)
      if (Object.keys(changed).length > 0) await updateChannel({ id: props.channel.id, ...changed })
    }
    await client.invalidateQueries({ queryKey: channelsKey })
    showSuccess(t(props.channel === 'new' ? 'channels.createdToast' : 'channels.savedToast'))
    props.onClose()
  }
  function confirmVersion({ type, baseUrl }: ChannelDraft): Promise<boolean> {
    return confirm({
      title: t('channels.versionTitle'),
      body: t('channels.versionBody', { address: relayAddress(type, baseUrl) }),
      confirmText: t('channels.versionKeep'),
      cancelText: t('channels.versionBack'),
    })
  }
}
