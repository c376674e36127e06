import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { channelsKey, enabledModelsQuery } from '#console/api/channels.ts'
import { call } from '#console/api/client.ts'
import { groupsQuery } from '#console/api/own-user-group-and-model-queries.ts'
import { confirmDiscard } from '#console/ui/dialogs/confirm.tsx'
import { FormDialog } from '#console/ui/dialogs/form-dialog.tsx'
import { useDialogItem } from '#console/ui/dialogs/use-dialog-item.ts'
import { groupTag } from '#console/ui/elements/group-tag.tsx'
import { TextField } from '#console/ui/forms/fields.tsx'
import { NamesField } from '#console/ui/forms/names-field.tsx'
import { isSharedErrorKey } from '#console/ui/forms/server-field-errors.ts'
import { type DraftForm, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { showError, showSuccess } from '#console/ui/messages/toast.ts'
import { CHANNEL_FIELDS } from '#read-api/contract/channel-fields.ts'
import type { Channel, TagGroup } from '#read-api/contract/channels.ts'
import { JsonField } from '../form/json-field.tsx'
import { validateJson } from '../form/json-validation.ts'
import { draftOfTag, type TagDraft, type TagErrorKey, tagChange, validateTag } from './tag-draft.ts'

export type EditedTag = { readonly group: TagGroup; readonly channels: readonly Channel[] }

export function TagDialog(props: { edited: EditedTag | null; onClose: () => void }) {
  const { isOpen, lastItem, key } = useDialogItem(props.edited)
  if (lastItem === null) return null
  return <OpenDialog key={key} {...lastItem} isOpen={isOpen} onClose={props.onClose} />
}

type OpenProps = EditedTag & { isOpen: boolean; onClose: () => void }

function OpenDialog({ group, channels, isOpen, onClose }: OpenProps) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const count = group.members.length
  const form = useDraftForm<TagDraft, TagErrorKey>({
    initial: () => draftOfTag(group, channels),
    validate: validateTag,
    errorText: (errorKey) =>
      t(isSharedErrorKey(errorKey) ? `shared.error.${errorKey}` : `channelForm.error.${errorKey}`),
    save: async (draft, before) => {
      const change = tagChange(group.tag, before, draft)
      if (change === null) return showError(t('shared.unchanged'))
      await call('PUT /api/channel/tag', { body: change })
      await client.invalidateQueries({ queryKey: channelsKey })
      showSuccess(t('channelTags.saved', { count }))
      onClose()
    },
    onRepeat: onClose,
  })
  const leave = async () => {
    if (await confirmDiscard(tagChange(group.tag, form.before, form.draft) !== null)) onClose()
  }
  return (
    <FormDialog
      isOpen={isOpen}
      title={t('channelTags.title', { tag: group.tag })}
      lead={t('channelTags.lead', { count })}
      className="tg-dialog-form"
      submitText={t('shared.saveChanges')}
      form={form}
      onClose={() => void leave()}
    >
      <TagFields form={form} />
    </FormDialog>
  )
}

function TagFields({ form }: { form: DraftForm<TagDraft> }) {
  const { t } = useTranslation()
  const groups = useQuery(groupsQuery).data ?? []
  const models = useQuery(enabledModelsQuery).data ?? []
  const hint = t('channelTags.keepHint')
  return (
    <>
      <TextField
        label={t('channelTags.newTag')}
        hint={t('channelTags.newTagHint')}
        maxLength={CHANNEL_FIELDS.tag.maxLength}
        {...form.field('newTag')}
      />
      <NamesField
        label={t('shared.models')}
        hint={hint}
        suggestions={models}
        placeholder={t('channelForm.modelsPlaceholder')}
        {...form.field('models')}
      />
      <NamesField
        label={t('channels.groups')}
        hint={hint}
        suggestions={groups}
        show={groupTag}
        placeholder={t('channelForm.groupsPlaceholder')}
        {...form.field('groups')}
      />
      <JsonField
        label={t('channelForm.modelMapping')}
        hint={hint}
        example={'{"gpt-4o": "gpt-4o-2024-11-20"}'}
        validate={(text) => validateJson('modelMapping', text)}
        {...form.field('modelMapping')}
      />
      <div className="tg-form-row">
        {(['priority', 'weight'] as const).map((name) => (
          <TextField
            key={name}
            label={t(`channelForm.${name}`)}
            hint={hint}
            inputMode="numeric"
            {...form.field(name)}
          />
        ))}
      </div>
    </>
  )
}
