import type { OptionTranslations } from './zh.ts'

/** The English titles and introductions of the sections. `zh.ts` has the Chinese texts. */
export const sectionTranslations: Pick<OptionTranslations, 'sectionTitle' | 'sectionLead'> = {
  sectionTitle: {
    quota: 'Quota',
    rebate: 'Invitations and rebates',
    chats: 'Chat links',
    groups: 'Groups',
    ratios: 'Other ratios',
    fallback: 'Fallback price',
    prices: 'Model prices',
    'rate-limit': 'Model request rate limit',
    gemini: 'Gemini settings',
    claude: 'Claude settings',
    global: 'Global settings',
    channels: 'Channels and retries',
    'channel-health': 'Channel health',
    screening: 'Sensitive words',
    site: 'Site',
    login: 'Login and registration',
    smtp: 'Mail server (SMTP)',
    github: 'GitHub login',
    oidc: 'OIDC login',
    linuxdo: 'LinuxDO login',
    telegram: 'Telegram login',
    wechat: 'WeChat login',
    turnstile: 'Turnstile human check',
    payment: 'Payment',
    stripe: 'Stripe',
    appearance: 'Appearance',
    pages: 'Pages',
    statistics: 'Logs and dashboard',
    drawing: 'Drawing and music tasks',
    update: 'Update check',
  },
  sectionLead: {
    quota: 'Sets the quota that users are given, the rules for holds and how quota is shown.',
    rebate: 'When an invited user tops up, the inviter receives a share.',
    chats:
      'In a link, {address} and {key} are replaced by the public address and a token. The client ' +
      'receives this token.',
    groups: 'The same model can be sold at a different ratio in each group.',
    ratios:
      'Most entries map a model to a ratio, which is relative to the input price of the model.',
    fallback:
      'Models that have no price are charged at this price. Without it, calls to them are refused.',
    prices:
      'A ratio of 1 equals $2 per million input tokens. Cost = tokens × model ratio × group ratio.',
    'rate-limit': 'Calls are counted per user. Calls beyond the limit are answered with 429.',
    global: 'These settings apply to all channels.',
    channels:
      'These settings define how sessions keep their channel, and what happens when one fails.',
    'channel-health':
      'The circuit of a channel that keeps failing opens for a while. It closes automatically ' +
      'once the channel has recovered.',
    screening:
      'A request that contains a sensitive word is refused and not charged. Case and character ' +
      'width are ignored.',
    site: 'Sets the public address and the mode of this site.',
    login: 'Defines who can sign in and register.',
    smtp: 'The mail server sends verification codes, password resets and quota reminders.',
    github: 'The callback URL is the public address followed by /oauth/github.',
    oidc: 'The callback URL is the public address followed by /oauth/oidc.',
    linuxdo: 'The callback URL is the public address followed by /oauth/linuxdo.',
    turnstile: 'Turnstile protects registration, login and password reset.',
    payment:
      'Sets the gateway and the price of online top-ups. Payment callbacks use the public ' +
      'address, so enter it first.',
    stripe:
      'In the Stripe dashboard, add a webhook to the public address followed by ' +
      '/api/stripe/webhook, and enable the events that are listed below.',
    appearance: 'All visitors see this name and these links.',
    pages: 'These texts can contain Markdown and HTML.',
    update: 'The check only reads the address below and sends nothing about this site.',
  },
}
