import type { OptionSection } from '../option-definition.ts'
import {
  FLAG,
  formattedText,
  integer,
  lines,
  type OptionType,
  SECRET,
  text,
  URL_TEXT,
} from '../option-type.ts'

export const SITE: OptionSection = {
  id: 'site',
  tab: 'system',
  options: [
    { key: 'ServerAddress', type: URL_TEXT, preset: '', access: 'root' },
    { key: 'SelfUseModeEnabled', type: FLAG, preset: 'false', access: 'root' },
    { key: 'DemoSiteEnabled', type: FLAG, preset: 'false', access: 'root' },
  ],
}

export const SMTP: OptionSection = {
  id: 'smtp',
  tab: 'system',
  options: [
    { key: 'SMTPServer', type: formattedText('host', 255), preset: '', access: 'root' },
    { key: 'SMTPPort', type: integer(1, 65_535), preset: '587', access: 'root' },
    { key: 'SMTPSSLEnabled', type: FLAG, preset: 'false', access: 'root' },
    { key: 'SMTPAccount', type: text(320), preset: '', access: 'root' },
    { key: 'SMTPFrom', type: formattedText('mail', 320), preset: '', access: 'root' },
    { key: 'SMTPToken', type: SECRET, preset: '', access: 'secret' },
  ],
}

export const APPEARANCE: OptionSection = {
  id: 'appearance',
  tab: 'other',
  options: [
    {
      key: 'SystemName',
      type: { kind: 'text', maxLength: 100, isRequired: true },
      preset: 'Tallygate',
    },
    { key: 'Logo', type: URL_TEXT, preset: '' },
    { key: 'general_setting.docs_link', type: URL_TEXT, preset: '' },
    { key: 'Footer', type: lines(20_000), preset: '' },
    { key: 'DefaultCollapseSidebar', type: FLAG, preset: 'false' },
  ],
}

export const PAGES: OptionSection = {
  id: 'pages',
  tab: 'other',
  options: [
    { key: 'Notice', type: lines(200_000), preset: '' },
    { key: 'HomePageContent', type: lines(200_000), preset: '' },
    { key: 'About', type: lines(200_000), preset: '' },
  ],
}

const INTERVALS: OptionType = { kind: 'choice', choices: ['hour', 'day', 'week'] }

export const STATISTICS: OptionSection = {
  id: 'statistics',
  tab: 'other',
  options: [
    { key: 'LogConsumeEnabled', type: FLAG, preset: 'true', hasNoEffect: true },
    { key: 'DataExportEnabled', type: FLAG, preset: 'true' },
    { key: 'DataExportInterval', type: integer(1, 1_440), preset: '5', unit: 'minute' },
    { key: 'DataExportDefaultTime', type: INTERVALS, preset: 'hour' },
    { key: 'DisplayTokenStatEnabled', type: FLAG, preset: 'true' },
  ],
}

export const UPDATE: OptionSection = {
  id: 'update',
  tab: 'other',
  options: [
    { key: 'UpdateCheckUrl', type: URL_TEXT, isOutboundAddress: true, preset: '', access: 'root' },
    { key: 'UpdateCheckEnabled', type: FLAG, preset: 'false' },
  ],
}
