import { useQuery } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { groupsQuery } from '#console/api/account.ts'
import { enabledModelsQuery, knownModelsQuery } from '#console/api/channels.ts'
import { Button } from '#console/ui/button.tsx'
import { FormField } from '#console/ui/form-field.tsx'
import { groupTag } from '#console/ui/group-tag.tsx'
import { TextInput } from '#console/ui/inputs.tsx'
import { NameList } from '#console/ui/name-list.tsx'
import { UnpricedTag, useUnpriced } from '../unpriced.tsx'
import type { ChannelFormProps } from './channel-form-props.ts'
import { FetchedModels } from './fetched-models.tsx'
import { UnpricedStep } from './unpriced-step.tsx'

/** The models a channel serves, the one it is tested with, and the groups it serves. */
export function ModelFields(props: ChannelFormProps): ReactElement {
  const { draft, faults, refusal, onChange } = props
  const { t } = useTranslation()
  const refused = refusal?.field === 'groups' ? refusal.text : undefined
  const groups = useQuery(groupsQuery).data ?? []
  return (
    <>
      <Models {...props} />
      {props.stored !== null && <Unpriced {...props} />}
      <FormField label={t('channelForm.testModel')} hint={t('channelForm.testModelHint')}>
        {(control) => (
          <TextInput
            {...control}
            maxLength={200}
            placeholder={draft.models[0] ?? ''}
            value={draft.testModel}
            onChange={(testModel) => onChange({ testModel })}
          />
        )}
      </FormField>
      <FormField
        label={t('channels.groups')}
        error={faults.groups ? t(`channelForm.fault.${faults.groups}`) : refused}
        isRequired
      >
        {(control) => (
          <NameList
            control={control}
            names={draft.groups}
            suggestions={groups}
            show={groupTag}
            placeholder={t('channelForm.groupsPlaceholder')}
            onChange={(names) => onChange({ groups: names })}
          />
        )}
      </FormField>
    </>
  )
}

/** The models of a channel that is there whose calls are refused for want of a price. */
function Unpriced({ draft }: ChannelFormProps): ReactElement {
  const unpriced = useUnpriced()({ models: draft.models, prefix: draft.modelPrefix })
  const [shown, setShown] = useState<readonly string[]>([])
  const [isOpen, setOpen] = useState(false)
  const open = () => {
    setShown(unpriced)
    setOpen(true)
  }
  return (
    <>
      {unpriced.length > 0 && <UnpricedTag count={unpriced.length} onOpen={open} />}
      <UnpricedStep isOpen={isOpen} models={shown} onClose={() => setOpen(false)} />
    </>
  )
}

function Models(props: ChannelFormProps): ReactElement {
  const { draft, type, faults, onChange } = props
  const { t } = useTranslation()
  const known = useQuery(knownModelsQuery)
  const enabled = useQuery(enabledModelsQuery)
  const failed = [
    ...(known.isError ? [t('channels.modelsFailed')] : []),
    ...(enabled.isError ? [t('channels.enabledModelsFailed')] : []),
  ]
  const set = (models: readonly string[]) => onChange({ models })
  const add = (models: readonly string[]) => set([...new Set([...draft.models, ...models])])
  const fills = [
    { words: t('channelForm.fillType'), models: type?.models ?? [] },
    { words: t('channelForm.fillKnown'), models: known.data ?? [] },
    { words: t('channelForm.fillEnabled'), models: enabled.data ?? [] },
  ].filter(({ models }) => models.length > 0)
  return (
    <FormField
      label={t('channels.models')}
      hint={failed.length > 0 ? failed.join(' ') : undefined}
      error={faults.models && t(`channelForm.fault.${faults.models}`)}
      isRequired
    >
      {(control) => (
        <>
          <NameList
            control={control}
            names={draft.models}
            suggestions={[...new Set([...(type?.models ?? []), ...(known.data ?? [])])]}
            placeholder={t('channelForm.modelsPlaceholder')}
            onChange={set}
          />
          <div className="tg-fills">
            {type?.can_list_models === true && <FetchedModels {...props} onModels={set} />}
            {fills.map(({ words, models }) => (
              <Button key={words} size="small" icon="add" onClick={() => add(models)}>
                {words}
              </Button>
            ))}
            {draft.models.length > 0 && (
              <Button size="small" tone="quiet" onClick={() => set([])}>
                {t('channelForm.clearModels', { count: draft.models.length })}
              </Button>
            )}
          </div>
        </>
      )}
    </FormField>
  )
}
