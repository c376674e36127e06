import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Icon } from '#console/ui/elements/icons.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import type { OptionSchema, OptionSection } from '#read-api/contract/options.ts'
import { formRowStarts } from './form-row-starts.ts'
import { isRootOnly, SettingField } from './setting-field.tsx'
import { SectionHistory } from './setting-history-and-diff.tsx'
import { useOptionTexts } from './use-option-texts.ts'
import type { SettingsForm } from './use-settings-form.ts'

export function SettingSection(props: {
  section: OptionSection
  form: SettingsForm
  children?: ReactNode
  extra?: ReactNode
}) {
  const { t } = useTranslation()
  const texts = useOptionTexts()
  const { form, section } = props
  const options = form.optionsOf(section.id).filter(({ key }) => form.has(key))
  if (options.length === 0) return null
  return (
    <div id={`section-${section.id}`} className="tg-setting-section">
      <Panel
        title={texts.sectionTitle(section.id)}
        lead={texts.sectionLead(section.id) || undefined}
        actions={<SectionHistory section={section} />}
      >
        {isRootOnly(form, section.id) && (
          <p className="tg-setting-said">
            <Icon name="info" size={14} />
            {t('settings.rootOnly')}
          </p>
        )}
        {props.children ?? <Fields options={options} form={form} />}
        {props.extra}
      </Panel>
    </div>
  )
}

function Fields(props: { options: readonly OptionSchema[]; form: SettingsForm }) {
  const starts = formRowStarts(props.options)
  return (
    <div className="tg-setting-fields">
      {props.options.map((option, index) => (
        <div key={option.key} className={fieldClass(option, starts.has(index))}>
          <SettingField option={option} form={props.form} />
        </div>
      ))}
    </div>
  )
}

function fieldClass(option: OptionSchema, isStart: boolean): string | undefined {
  if (isWide(option)) return 'tg-setting-wide'
  return isStart ? 'tg-setting-start' : undefined
}

/**
 * Reports whether the field of an option needs the full width of the form for its long lines. A
 * field for JSON does not need the full width, because lines of JSON are short.
 */
const isWide = ({ type }: OptionSchema): boolean => type.kind === 'lines' || type.kind === 'links'
