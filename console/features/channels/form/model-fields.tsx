import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'react-router-dom'
import { enabledModelsQuery, knownModelsQuery } from '#console/api/channels.ts'
import { groupsQuery } from '#console/api/own-user-group-and-model-queries.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { groupTag } from '#console/ui/elements/group-tag.tsx'
import { TextField } from '#console/ui/forms/fields.tsx'
import { FormField } from '#console/ui/forms/form-field.tsx'
import { NameList, NamesField } from '#console/ui/forms/names-field.tsx'
import { CHANNEL_FIELDS } from '#read-api/contract/channel-fields.ts'
import { UnpricedModelsTag, useUnpricedModels } from '../unpriced-models-tag.tsx'
import type { ChannelFormProps } from './channel-draft.ts'
import { FetchModelsButton } from './fetch-models-button.tsx'
import { UnpricedModelsStep } from './unpriced-models-step.tsx'

export function ModelFields(props: ChannelFormProps) {
  const { form } = props
  const { t } = useTranslation()
  const groups = useQuery(groupsQuery).data ?? []
  return (
    <>
      <Models {...props} />
      {props.stored !== null && <Unpriced {...props} />}
      <TextField
        label={t('channelForm.testModel')}
        hint={t('channelForm.testModelHint')}
        maxLength={CHANNEL_FIELDS.testModel.maxLength}
        placeholder={form.draft.models[0] ?? ''}
        {...form.field('testModel')}
      />
      <NamesField
        label={t('channels.groups')}
        isRequired
        suggestions={groups}
        show={groupTag}
        placeholder={t('channelForm.groupsPlaceholder')}
        {...form.field('groups')}
      />
    </>
  )
}

function Unpriced({ form: { draft } }: ChannelFormProps) {
  const unpriced = useUnpricedModels()({ models: draft.models, prefix: draft.modelPrefix })
  const { pathname, search } = useLocation()
  const [stepModels, setStepModels] = useState<readonly string[]>([])
  const [isOpen, setOpen] = useState(false)
  const open = () => {
    setStepModels(unpriced)
    setOpen(true)
  }
  return (
    <>
      {unpriced.length > 0 && <UnpricedModelsTag count={unpriced.length} onOpen={open} />}
      <UnpricedModelsStep
        isOpen={isOpen}
        models={stepModels}
        returnTo={pathname + search}
        onClose={() => setOpen(false)}
      />
    </>
  )
}

function Models(props: ChannelFormProps) {
  const { form, type } = props
  const { models: selected } = form.draft
  const { t } = useTranslation()
  const knownModels = useQuery(knownModelsQuery)
  const enabled = useQuery(enabledModelsQuery)
  const failed = [
    ...(knownModels.isError ? [t('channels.modelsFailed')] : []),
    ...(enabled.isError ? [t('channels.enabledModelsFailed')] : []),
  ]
  const set = (models: readonly string[]) => form.change({ models })
  const add = (models: readonly string[]) => set([...new Set([...selected, ...models])])
  const fills = [
    { label: t('channelForm.addTypeModels'), models: type?.models ?? [] },
    { label: t('channelForm.addKnownModels'), models: knownModels.data ?? [] },
    { label: t('channelForm.addEnabledModels'), models: enabled.data ?? [] },
  ].filter(({ models }) => models.length > 0)
  return (
    <FormField
      label={t('shared.models')}
      hint={failed.length > 0 ? failed.join(' ') : undefined}
      error={form.errors.models}
      isRequired
    >
      {(control) => (
        <>
          <NameList
            control={control}
            names={selected}
            suggestions={[...new Set([...(type?.models ?? []), ...(knownModels.data ?? [])])]}
            placeholder={t('channelForm.modelsPlaceholder')}
            onChange={set}
          />
          <div className="tg-fills">
            {type?.can_list_models === true && <FetchModelsButton {...props} onModels={set} />}
            {fills.map(({ label, models }) => (
              <Button key={label} size="small" icon="add" onClick={() => add(models)}>
                {label}
              </Button>
            ))}
            {selected.length > 0 && (
              <Button size="small" tone="quiet" onClick={() => set([])}>
                {t('channelForm.clearModels', { count: selected.length })}
              </Button>
            )}
          </div>
        </>
      )}
    </FormField>
  )
}
