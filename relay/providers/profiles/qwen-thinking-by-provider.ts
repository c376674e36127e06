import type { ProfileRow } from './provider-profile.ts'

type ThinkingAtProvider = Pick<
  ProfileRow,
  'thinkingBeyondLimit' | 'thinkingBudgetMin' | 'thinkingSwitch'
>

/** How Qwen's models think at DashScope. */
export const THINKING_AT_DASH_SCOPE: ThinkingAtProvider = {
  // The maximum length of the chain of thought of any model, in tokens
  // (alibabacloud.com/help/en/model-studio/models).
  thinkingBeyondLimit: 81_920,
  // Open Qwen3 models refuse a request without a stream, unless the request turns thinking off.
  thinkingSwitch: {
    models:
      /^qwen(?:-(?:plus|turbo|flash)|3-[\d.]+b|3\.[5-9])(?!.*(?:instruct|thinking|coder|character))/i,
    isOnlyForStreams: true,
  },
}

/** How Qwen's models think at SiliconFlow. */
export const THINKING_AT_SILICON_FLOW: ThinkingAtProvider = {
  // The longest chain of thought has about 40 000 tokens
  // (docs.siliconflow.com/en/userguide/capabilities/reasoning).
  thinkingBeyondLimit: 40_960,
  thinkingBudgetMin: 128,
  // Other models refuse `enable_thinking` with an error.
  thinkingSwitch: {
    models: /(?:^|\/)qwen3(?:\.[5-9])?-[\d.]+b(?!.*(?:instruct|thinking|coder))/i,
  },
}
