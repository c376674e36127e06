import { useQuery } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { usableGroupsQuery, usableModelsQuery } from '#console/api/account.ts'
import { useGroupWords } from '#console/ui/elements/group-words.ts'
import { FormField } from '#console/ui/forms/form-field.tsx'
import { Select, TextArea } from '#console/ui/forms/inputs.tsx'
import { NameList } from '#console/ui/forms/name-list.tsx'
import { Switch } from '#console/ui/forms/switches.tsx'
import { wrongAddress } from './address-lines.ts'
import { faultText, type TokenFormProps } from './token-draft.ts'
import { TokenRateFields } from './token-rate-fields.tsx'

export function TokenAccessFields(props: TokenFormProps): ReactElement {
  const { draft, faults, onChange } = props
  const { t } = useTranslation()
  return (
    <>
      <GroupField {...props} />
      <ModelFields {...props} />
      <TokenRateFields {...props} />
      <FormField
        label={t('tokens.allowIps')}
        hint={t('tokens.allowIpsHint')}
        error={
          faults.allowIps === 'ipWrong'
            ? addressFault(t, draft.allowIps)
            : faultText(t, faults.allowIps)
        }
      >
        {(control) => (
          <TextArea
            {...control}
            isMono
            rows={3}
            spellCheck={false}
            value={draft.allowIps}
            onChange={(allowIps) => onChange({ allowIps })}
          />
        )}
      </FormField>
    </>
  )
}

function addressFault(t: TFunction, text: string): string {
  const { line, address } = wrongAddress(text) ?? { line: 0, address: '' }
  return t('tokens.fault.ipWrong', { line, address })
}

function GroupField({ draft, onChange }: TokenFormProps): ReactElement {
  const { t } = useTranslation()
  const words = useGroupWords()
  const groups = Object.entries(useQuery(usableGroupsQuery).data ?? {})
  const isKnown = draft.group === '' || groups.some(([name]) => name === draft.group)
  const choices = [
    { value: '', label: t('tokens.groupDefault') },
    ...groups.map(([name, { desc, ratio }]) => ({
      value: name,
      label: t('tokens.groupChoice', { name, description: words(name, desc), ratio }),
    })),
    ...(isKnown ? [] : [{ value: draft.group, label: draft.group }]),
  ]
  return (
    <FormField label={t('ui.groupName')} hint={t('tokens.groupHint')}>
      {(control) => (
        <Select
          {...control}
          value={draft.group}
          choices={choices}
          onChange={(group) => onChange({ group })}
        />
      )}
    </FormField>
  )
}

function ModelFields({ draft, faults, onChange }: TokenFormProps): ReactElement {
  const { t } = useTranslation()
  const models = useQuery(usableModelsQuery).data ?? []
  return (
    <>
      <Switch
        label={t('tokens.hasModelLimits')}
        hint={t('tokens.hasModelLimitsHint')}
        isOn={draft.hasModelLimits}
        onChange={(hasModelLimits) => onChange({ hasModelLimits })}
      />
      {draft.hasModelLimits && (
        <FormField label={t('tokens.models')} error={faultText(t, faults.models)}>
          {(control) => (
            <NameList
              control={control}
              names={draft.models}
              suggestions={models}
              placeholder={t('tokens.modelsPlaceholder')}
              onChange={(names) => onChange({ models: names })}
            />
          )}
        </FormField>
      )}
    </>
  )
}
