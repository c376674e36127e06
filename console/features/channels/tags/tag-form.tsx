import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { groupsQuery } from '#console/api/account.ts'
import { channelsKey, enabledModelsQuery } from '#console/api/channels.ts'
import { call } from '#console/api/client.ts'
import { Button } from '#console/ui/button.tsx'
import { FormField } from '#console/ui/form-field.tsx'
import { groupTag } from '#console/ui/group-tag.tsx'
import { TextInput } from '#console/ui/inputs.tsx'
import { NameList } from '#console/ui/name-list.tsx'
import { showError, showSuccess } from '#console/ui/toast.ts'
import { focusFirstFault, useSubmit } from '#console/ui/use-submit.ts'
import type { Channel, TagGroup } from '#read-api/contract/channels.ts'
import { jsonFault } from '../form/json-faults.ts'
import { JsonField } from '../form/json-field.tsx'
import { draftOfGroup, type TagDraft, type TagFaults, tagChange, tagFaults } from './tag-draft.ts'

type TagFormProps = {
  titleId: string
  group: TagGroup
  channels: readonly Channel[]
  onChanged: (isChanged: boolean) => void
  /** Asks first, where something would be lost. */
  onCancel: () => void
  onClose: () => void
}

export function TagForm(props: TagFormProps): ReactElement {
  const { group } = props
  const { t } = useTranslation()
  const client = useQueryClient()
  const form = useRef<HTMLFormElement>(null)
  const [before] = useState(() => draftOfGroup(group, props.channels))
  const [draft, setDraft] = useState(before)
  const [faults, setFaults] = useState<TagFaults>({})
  const change = tagChange(group.tag, before, draft)
  const isChanged = change !== null
  useEffect(() => props.onChanged(isChanged), [isChanged, props.onChanged])
  const { isBusy, submit } = useSubmit(async () => {
    const found = tagFaults(draft)
    setFaults(found)
    if (Object.keys(found).length > 0) return focusFirstFault(form)
    if (change === null) return showError(t('channelTags.unchanged'))
    await call('PUT /api/channel/tag', { body: change })
    await client.invalidateQueries({ queryKey: channelsKey })
    showSuccess(t('channelTags.saved', { count: group.members.length }))
    props.onClose()
  }, props.onClose)
  const set = (patch: Partial<TagDraft>) => {
    const next = { ...draft, ...patch }
    setDraft(next)
    if (Object.keys(faults).length > 0) setFaults(tagFaults(next))
  }
  return (
    <form
      ref={form}
      className="tg-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <h2 id={props.titleId}>{t('channelTags.title', { tag: group.tag })}</h2>
      <p className="tg-hint tg-tag-lead">
        {t('channelTags.lead', { count: group.members.length })}
      </p>
      <TagFields draft={draft} faults={faults} onChange={set} />
      <div className="tg-dialog-foot">
        <Button onClick={props.onCancel}>{t('ui.cancel')}</Button>
        <Button type="submit" tone="primary" isBusy={isBusy}>
          {t('channelTags.save')}
        </Button>
      </div>
    </form>
  )
}

type FieldsProps = {
  draft: TagDraft
  faults: TagFaults
  onChange: (patch: Partial<TagDraft>) => void
}

function TagFields(props: FieldsProps): ReactElement {
  const { draft, faults, onChange } = props
  const { t } = useTranslation()
  const groups = useQuery(groupsQuery).data ?? []
  const models = useQuery(enabledModelsQuery).data ?? []
  const list = (field: 'models' | 'groups', suggestions: readonly string[]) => (
    <FormField label={t(`channels.${field}`)} hint={t('channelTags.keepHint')}>
      {(control) => (
        <NameList
          control={control}
          names={draft[field]}
          suggestions={suggestions}
          {...(field === 'groups' ? { show: groupTag } : {})}
          placeholder={t(`channelForm.${field}Placeholder`)}
          onChange={(names) => onChange({ [field]: names })}
        />
      )}
    </FormField>
  )
  return (
    <>
      <FormField label={t('channelTags.newTag')} hint={t('channelTags.newTagHint')}>
        {(control) => (
          <TextInput
            {...control}
            maxLength={200}
            value={draft.newTag}
            onChange={(newTag) => onChange({ newTag })}
          />
        )}
      </FormField>
      {list('models', models)}
      {list('groups', groups)}
      <JsonField
        label={t('channelForm.modelMapping')}
        hint={t('channelTags.keepHint')}
        example={'{"gpt-4o": "gpt-4o-2024-11-20"}'}
        value={draft.modelMapping}
        fault={faults.modelMapping}
        judge={(text) => jsonFault('modelMapping', text)}
        onChange={(modelMapping) => onChange({ modelMapping })}
      />
      <div className="tg-form-row">
        <NumberField {...props} field="priority" />
        <NumberField {...props} field="weight" />
      </div>
    </>
  )
}

function NumberField(props: FieldsProps & { field: 'priority' | 'weight' }): ReactElement {
  const { draft, faults, field, onChange } = props
  const { t } = useTranslation()
  const fault = faults[field]
  return (
    <FormField
      label={t(`channels.${field}`)}
      hint={t('channelTags.keepHint')}
      error={fault && t(`channelForm.fault.${fault}`)}
    >
      {(control) => (
        <TextInput
          {...control}
          inputMode="numeric"
          value={draft[field]}
          onChange={(value) => onChange({ [field]: value })}
        />
      )}
    </FormField>
  )
}
