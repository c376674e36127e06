import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { invalidFieldOf } from '#console/api/api-error.ts'
import { channelsKey, isWorkInFlight, updateChannel } from '#console/api/channels.ts'
import { callForEnvelope } from '#console/api/client.ts'
import { statusQuery, useStatus } from '#console/api/status.ts'
import { findUnpricedModels } from '#console/api/unpriced-models-and-preset-prices.ts'
import { confirm } from '#console/ui/dialogs/confirm.tsx'
import { FormDrawer } from '#console/ui/dialogs/form-drawer.tsx'
import { isSharedErrorKey } from '#console/ui/forms/server-field-errors.ts'
import { useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { useLeaveGuard } from '#console/ui/forms/use-leave-guard.ts'
import { showInfo, showSuccess } from '#console/ui/messages/toast.ts'
import type { Channel } from '#read-api/contract/channels.ts'
import type { CreateChannel, UpdateChannel } from '#write-api/contract/channels.ts'
import { callableModelNames } from '../unpriced-models-tag.tsx'
import { useChannelTypes } from '../use-channel-types.ts'
import { type ChannelDraft, draftOfChannel, newChannel } from './channel-draft.ts'
import { ChannelFormFields } from './channel-form-fields.tsx'
import { createChannelBody, updateChannelBody } from './channel-request-body.ts'
import { type ChannelErrorKey, validateChannel } from './channel-validation.ts'
import { endsWithV1, upstreamUrl } from './upstream-url.ts'

type FormProps = {
  isOpen: boolean
  channel: Channel | null
  onClose: () => void
  /** Called instead of `onClose` if models that were added to the channel have no price. */
  onUnpriced: (models: readonly string[]) => void
}

export function ChannelDrawerForm(props: FormProps) {
  const { channel } = props
  const { t } = useTranslation()
  const { find } = useChannelTypes()
  const form = useDraftForm<ChannelDraft, ChannelErrorKey>({
    initial: () => (channel === null ? newChannel(find(1)) : draftOfChannel(channel)),
    validate: (draft, before) =>
      validateChannel(draft, channel === null ? null : before, find(draft.type)),
    errorText: (errorKey) =>
      t(isSharedErrorKey(errorKey) ? `shared.error.${errorKey}` : `channelForm.error.${errorKey}`),
    save: useSave(props),
    errorsOf,
    onRepeat: props.onClose,
  })
  useLeaveGuard(props.isOpen && form.isChanged)
  const title = channel === null ? 'shared.newChannel' : 'channelForm.editTitle'
  return (
    <FormDrawer
      isOpen={props.isOpen}
      title={t(title, { name: channel?.name ?? '' })}
      lead={t('channelForm.createLead')}
      submitText={t(channel === null ? 'channelForm.createAction' : 'shared.saveChanges')}
      form={form}
      onClose={props.onClose}
    >
      <ChannelFormFields
        form={form}
        stored={channel === null ? null : form.before}
        channel={channel}
        type={find(form.draft.type)}
      />
    </FormDrawer>
  )
}

const FIELDS: Readonly<Record<string, keyof ChannelDraft>> = {
  base_url: 'baseUrl',
  group: 'groups',
  model_mapping: 'modelMapping',
  status_code_mapping: 'statusCodeMapping',
  param_override: 'paramOverride',
  setting: 'setting',
}

function errorsOf(error: unknown) {
  const invalid = invalidFieldOf(error)
  const field = FIELDS[invalid?.name ?? '']
  return invalid === null || field === undefined ? null : { [field]: invalid.problem }
}

function addedModels(before: ChannelDraft, after: ChannelDraft): string[] {
  const namesOf = ({ models, modelPrefix: prefix }: ChannelDraft) =>
    callableModelNames({ models, prefix })
  const old = new Set(namesOf(before))
  return namesOf(after).filter((name) => !old.has(name))
}

const KEEP_ON_NEXT_PAGE = { staysOnNavigation: true }

function useSave({ channel, onClose, onUnpriced }: FormProps) {
  const { t } = useTranslation()
  const { find } = useChannelTypes()
  const client = useQueryClient()
  const update = useUpdate()
  const isSelfUse = useStatus()?.self_use_mode_enabled === true
  return async (draft: ChannelDraft, before: ChannelDraft) => {
    const isNewAddress = channel === null || draft.baseUrl !== before.baseUrl
    if (isNewAddress && endsWithV1(draft.baseUrl) && !(await confirmVersion(draft))) return
    if (channel === null) {
      const { count, message } = await createChannel(createChannelBody(draft))
      const text = t(count === 1 ? 'channelForm.created' : 'channelForm.createdMany', { count })
      showSuccess(`${text} ${message}`.trim(), KEEP_ON_NEXT_PAGE)
    } else {
      const changed = updateChannelBody(channel, before, draft)
      if (Object.keys(changed).length === 0) return showInfo(t('shared.unchanged'))
      if (changed.key_mode === 'replace' && !(await confirmReplace(channel.key_count))) return
      const message = await update({ id: channel.id, ...changed })
      if (message === null) return
      showSuccess(`${t('shared.saved')} ${message}`.trim(), KEEP_ON_NEXT_PAGE)
    }
    // The navigation lists the tasks if the status says that a channel makes videos.
    void client.invalidateQueries({ queryKey: statusQuery.queryKey })
    await client.invalidateQueries({ queryKey: channelsKey })
    const unpriced = await findUnpriced(addedModels(before, draft))
    if (unpriced.length > 0) onUnpriced(unpriced)
    else onClose()
  }
  /**
   * Returns the models in `models` that have no price. Returns an empty list if the site permits
   * calls of models without a price, or if the prices could not be read.
   */
  function findUnpriced(models: readonly string[]): Promise<readonly string[]> {
    if (isSelfUse) return Promise.resolve([])
    return findUnpricedModels(client, models).catch(() => [])
  }
  function confirmReplace(count: number): Promise<boolean> {
    return confirm({
      title: t('channelForm.replaceTitle'),
      body: t('channelForm.replaceBody', { count }),
      confirmText: t('channelForm.mode.replace'),
      tone: 'danger',
    })
  }
  function confirmVersion({ type, baseUrl }: ChannelDraft): Promise<boolean> {
    return confirm({
      title: t('channelForm.versionTitle'),
      body: t('channelForm.versionBody', { address: upstreamUrl(find(type), baseUrl) }),
      confirmText: t('channelForm.versionKeep'),
      cancelText: t('channelForm.versionGoBack'),
    })
  }
}

/**
 * Returns a function that saves a channel and returns the server's message. If the change removes a
 * key that unfinished work needs, the function asks the admin to confirm the removal. If the admin
 * cancels, the function returns null.
 */
function useUpdate() {
  const { t } = useTranslation()
  return async (body: UpdateChannel): Promise<string | null> => {
    try {
      return await updateChannel(body)
    } catch (error) {
      if (!isWorkInFlight(error)) throw error
      const isConfirmed = await confirm({
        title: t('channelForm.removeKeysTitle'),
        body: error.message,
        confirmText: t('channelForm.removeKeys'),
        tone: 'danger',
      })
      return isConfirmed ? updateChannel({ ...body, force: true }) : null
    }
  }
}

async function createChannel(body: CreateChannel): Promise<{ count: number; message: string }> {
  const { data, message } = await callForEnvelope('POST /api/channel/', { body })
  return { count: data.ids.length, message }
}
