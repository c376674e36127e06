import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { FormField } from '#console/ui/form-field.tsx'
import { TextInput } from '#console/ui/inputs.tsx'
import { Panel } from '#console/ui/panel.tsx'
import { Switch } from '#console/ui/switches.tsx'
import { settingFault } from './setting-faults.ts'
import type { SettingSection as Section, SettingField } from './setting-fields.ts'
import { useFaultText } from './use-fault-text.ts'
import type { SettingsForm } from './use-settings-form.ts'

/** A panel of plain fields; those that the server doesn't have are left out. */
export function SettingSection(props: {
  section: Section
  form: SettingsForm
}): ReactElement | null {
  const { t } = useTranslation()
  const { form, section } = props
  const fields = section.fields.filter(({ key }) => form.has(key))
  if (fields.length === 0) return null
  return (
    <Panel title={t(`settings.${section.id}`)} lead={t(`settings.${section.id}Lead`)}>
      <div className="tg-setting-fields">
        {fields.map((field) => (
          <Field key={field.key} field={field} form={form} />
        ))}
      </div>
    </Panel>
  )
}

function Field({ field, form }: { field: SettingField; form: SettingsForm }): ReactElement {
  const { t } = useTranslation()
  const faultText = useFaultText()
  const { key, words } = field
  const value = form.value(key)
  const set = (text: string) => form.set(new Map([[key, text]]))
  const label = t(`settings.field.${words}`)
  const hint = t(`settings.hint.${words}`)
  if (field.kind === 'flag') {
    return (
      <Switch
        label={label}
        hint={hint}
        isOn={value === 'true'}
        onChange={(isOn) => set(String(isOn))}
      />
    )
  }
  const fault = form.isChanged(key) ? settingFault(key, value) : null
  return (
    <FormField label={label} hint={hint} error={faultText(fault)}>
      {(control) => (
        <TextInput
          {...control}
          {...(field.kind === 'integer' ? { inputMode: 'numeric' as const } : {})}
          className={field.kind === 'integer' ? 'tg-input-short' : ''}
          value={value}
          onChange={set}
        />
      )}
    </FormField>
  )
}
