import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Icon } from '#console/ui/elements/icons.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import type { OptionSchema, OptionSection } from '#read-api/contract/options.ts'
import { SectionHistory } from './section-history.tsx'
import { isRootOnly, SettingField } from './setting-field.tsx'
import { useOptionTexts } from './use-options.ts'
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
 * Reports whether the field of an option needs the full width of the form, because its lines are
 * long. A field for JSON does not need it, because lines of JSON are short.
 */
const isWide = ({ type }: OptionSchema): boolean => type.kind === 'lines' || type.kind === 'links'

type Kinds = readonly { readonly type: { readonly kind: string } }[]

/**
 * Returns the indexes of the options that start a new row of the form. A row contains two switches.
 * If the number of switches is odd, half a row is left free, which a single following field of
 * another kind fills instead of starting a new row.
 */
export function formRowStarts(options: Kinds): ReadonlySet<number> {
  const isFlag = (index: number) => options[index]?.type.kind === 'flag'
  const runs = options
    .map((_, index) => index)
    .filter((index) => index === 0 || isFlag(index) !== isFlag(index - 1))
  const lengthOf = (run: number) => (runs[run + 1] ?? options.length) - (runs[run] ?? 0)
  const isPaired = (run: number) =>
    !isFlag(runs[run] ?? 0) && run > 0 && lengthOf(run) === 1 && lengthOf(run - 1) % 2 === 1
  return new Set(runs.filter((_, run) => !isPaired(run)))
}
