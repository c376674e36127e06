import type { Profile } from '../profile.ts'

/**
 * A model is called by the name of its deployment. An address that ends in `/openai/v1` is the
 * newer API, without deployments and versions.
 */
export const azure: Profile = {
  id: 3,
  name: 'Azure OpenAI',
  baseUrl: null,
  chatPath: '/openai/deployments/{model}/chat/completions?api-version={other}',
  modelsPath: null,
  keyHeader: 'api-key',
  keyHint: { zh: '资源的密钥（KEY 1 或 KEY 2）', en: 'A key of the resource (KEY 1 or KEY 2)' },
  fields: [
    {
      key: 'other',
      kind: 'text',
      label: { zh: 'API 版本', en: 'API version' },
      hint: {
        zh: '例如 2024-10-21；模型名即部署名，不同时请用模型映射',
        en: 'Such as 2024-10-21. Models go by their deployments; map those named otherwise',
      },
      default: '2024-10-21',
      isRequired: false,
    },
  ],
  models: ['gpt-4.1', 'gpt-4.1-mini', 'gpt-4o', 'gpt-4o-mini', 'o3-mini', 'o1', 'gpt-35-turbo'],
}
