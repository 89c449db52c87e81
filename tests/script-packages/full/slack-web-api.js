import { WebClient, ErrorCode } from "@slack/web-api";

export default function () {
  const client = new WebClient("xoxb-1", { retryConfig: { retries: 0 } });
  return [typeof client.chat.postMessage, client.slackApiUrl, ErrorCode.PlatformError];
}
