import { useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { enabledModelsQuery, knownModelsQuery } from '#console/api/channels/list-models.ts'
import { groupsQuery } from '#console/api/groups/list-groups.ts'
import { Button } from '#console/ui/button.tsx'
import { FormField } from '#console/ui/form-field.tsx'
import { NameList } from '#console/ui/name-list.tsx'
import type { ChannelFormProps } from './channel-form.tsx'

/** The models a channel serves, and the groups it serves them to. */
export function ChannelLists(props: ChannelFormProps): ReactElement {
  const { draft, faults, onChange } = props
  const { t } = useTranslation()
  const groups = useQuery(groupsQuery).data ?? []
  return (
    <>
      <ModelField {...props} />
      <FormField
        label={t('channels.groups')}
        error={faults.groups && t(`channels.fault.${faults.groups}`)}
        isRequired
      >
        {(control) => (
          <NameList
            control={control}
            names={draft.groups}
            suggestions={groups}
            placeholder={t('channels.groupsPlaceholder')}
            onChange={(names) => onChange({ ...draft, groups: names })}
          />
        )}
      </FormField>
    </>
  )
}

function ModelField({ draft, faults, onChange }: ChannelFormProps): ReactElement {
  const { t } = useTranslation()
  const known = useQuery(knownModelsQuery)
  const enabled = useQuery(enabledModelsQuery)
  const failed = known.isError || enabled.isError
  const set = (models: readonly string[]) => onChange({ ...draft, models })
  const add = (models: readonly string[]) => set([...new Set([...draft.models, ...models])])
  const fills = [
    { words: t('channels.fillKnown'), models: known.data ?? [] },
    { words: t('channels.fillEnabled'), models: enabled.data ?? [] },
  ].filter(({ models }) => models.length > 0)
  return (
    <FormField
      label={t('channels.models')}
      hint={failed ? t('channels.modelsFailed') : undefined}
      error={faults.models && t(`channels.fault.${faults.models}`)}
      isRequired
    >
      {(control) => (
        <>
          <NameList
            control={control}
            names={draft.models}
            suggestions={[...new Set([...(enabled.data ?? []), ...(known.data ?? [])])]}
            placeholder={t('channels.modelsPlaceholder')}
            onChange={set}
          />
          <div className="tg-fills">
            {fills.map(({ words, models }) => (
              <Button key={words} size="small" icon="add" onClick={() => add(models)}>
                {words}
              </Button>
            ))}
            {draft.models.length > 0 && (
              <Button size="small" tone="quiet" onClick={() => set([])}>
                {t('channels.clearModels')}
              </Button>
            )}
          </div>
        </>
      )}
    </FormField>
  )
}
