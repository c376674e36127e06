import { useTranslation } from 'react-i18next'
import { type Choice, Select } from '../forms/inputs.tsx'

/** `any` is the text of the option that does not filter. */
export function SelectFilter<Value extends string>(props: {
  label: string
  any: string
  choices: readonly Choice<Value>[]
  value: Value | ''
  className?: string
  onChange: (value: Value | '') => void
}) {
  const { label, any, choices, ...rest } = props
  return (
    <Select<Value | ''>
      aria-label={label}
      choices={[{ value: '', label: any }, ...choices]}
      {...rest}
    />
  )
}

export function StatusFilter<Value extends string>(
  props: Omit<Parameters<typeof SelectFilter<Value>>[0], 'label' | 'any'>,
) {
  const { t } = useTranslation()
  return <SelectFilter label={t('shared.status')} any={t('shared.anyStatus')} {...props} />
}

/** Lists the group in the URL even if it does not exist. */
export function GroupFilter(props: {
  groups: readonly string[]
  value: string
  className?: string
  onChange: (group: string) => void
}) {
  const { t } = useTranslation()
  const { groups, ...rest } = props
  const names = [...new Set([...groups, props.value])].filter((name) => name !== '')
  return (
    <SelectFilter
      label={t('ui.groupName')}
      any={t('shared.allGroups')}
      choices={names.map((name) => ({ value: name, label: name }))}
      {...rest}
    />
  )
}
