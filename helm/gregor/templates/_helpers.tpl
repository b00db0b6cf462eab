{{- define "gregor.name" -}}
{{- if contains "gregor" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-gregor" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "gregor.selector" -}}
app.kubernetes.io/name: gregor
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "gregor.labels" -}}
{{ include "gregor.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "gregor.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{/* Before anything else of a release; once, and away again. */}}
{{- define "gregor.hook" -}}
helm.sh/hook: pre-install,pre-upgrade,pre-rollback{{ with .later }},{{ . }}{{ end }}
# One that failed goes too, so that a failed install leaves nothing behind; helm prints its log first.
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded,hook-failed
helm.sh/hook-output-log-policy: hook-failed
{{- end }}

{{/* The settings: the chart's own servers, where it brings them, instead of those of the values. */}}
{{- define "gregor.settings" -}}
{{- $name := include "gregor.name" . }}
{{- $settings := deepCopy .Values.config }}
{{- if .Values.servers.enabled }}
{{- range $server, $port := dict "kafka" 9092 "zookeeper" 2181 "redis" 6379 "cassandra" 9042 }}
{{- $_ := set $settings $server (list (printf "%s-%s:%d" $name $server $port)) }}
{{- end }}
{{- $settings = merge (dict "kafka_replication" 1 "cassandra_replication" 1) $settings }}
{{- end }}
{{- toJson $settings }}
{{- end }}

{{/* JSON is TOML for texts, numbers, booleans and lists of them; tables are written out. */}}
{{- define "gregor.toml" -}}
engine = "cluster"
listen = "0.0.0.0:9100"
data = "/data"
{{- range $name := keys .Values.files | sortAlpha }}
{{ $name }} = "/etc/gregor/files/{{ $name }}"
{{- end }}
{{- $settings := include "gregor.settings" . | fromJson }}
{{- range $name := keys (omit $settings "hosts") | sortAlpha }}
{{ $name }} = {{ include "gregor.value" (index $settings $name) }}
{{- end }}
{{- range $host := $settings.hosts }}

[[host]]
{{- range $name := keys $host | sortAlpha }}
{{ $name }} = {{ include "gregor.value" (index $host $name) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "gregor.value" -}}
{{- if kindIs "map" . -}}
{ {{- range $index, $name := keys . | sortAlpha }}{{ if $index }}, {{ end }}{{ toJson $name }} = {{ toJson (index $ $name) }}{{ end -}} }
{{- else -}}
{{ toJson . }}
{{- end }}
{{- end }}

{{/* Where a pod may run: what its own values say, else what holds for all. */}}
{{- define "gregor.place" -}}
{{- with .own.priority_class | default .root.Values.priority_class }}
priorityClassName: {{ . }}
{{- end }}
{{- with .own.node_selector | default .root.Values.node_selector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .own.tolerations | default .root.Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .own.affinity | default .root.Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "gregor.pod" -}}
{{- with include "gregor.place" . | trim }}
{{- . | nindent 0 }}
{{- end }}
serviceAccountName: {{ .account }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.image.pull_secrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "gregor.container" -}}
image: {{ include "gregor.image" .root }}
imagePullPolicy: {{ .root.Values.image.pull_policy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
# So that the pod's status says which setting, secret or server it ended for.
terminationMessagePolicy: FallbackToLogsOnError
env:
  - {name: GREGOR_CONFIG, value: /etc/gregor/config/gregor.toml}
  {{- range $name, $value := .root.Values.env }}
  - {name: {{ $name }}, value: {{ $value | quote }}}
  {{- end }}
  {{- range $name, $from := .root.Values.secret_env }}
  - {name: {{ $name }}, valueFrom: {secretKeyRef: {name: {{ $from.secret }}, key: {{ $from.key }}}}}
  {{- end }}
volumeMounts:
  - {name: config, mountPath: /etc/gregor/config, readOnly: true}
  {{- if .root.Values.files }}
  - {name: files, mountPath: /etc/gregor/files, readOnly: true}
  {{- end }}
  - {name: data, mountPath: /data}
  - {name: tmp, mountPath: /tmp}
{{- end }}

{{/* Who asks the API by its Service is no longer led here when SIGTERM comes. */}}
{{- define "gregor.leave" -}}
preStop: {exec: {command: [sleep, "5"]}}
{{- end }}

{{/* With servers of its own the crawl is set up by who comes first: before an install there is nothing to set up. */}}
{{- define "gregor.setup" -}}
{{- if .Values.servers.enabled }}
initContainers:
  - name: init
    args: [init]
    {{- include "gregor.container" (dict "root" .) | nindent 4 }}
    resources:
      requests: {cpu: 100m, memory: 256Mi}
      limits: {memory: 512Mi}
{{- end }}
{{- end }}

{{- define "gregor.volumes" -}}
- name: config
  configMap: {name: {{ .config }}}
{{- with .root.Values.files }}
- name: files
  projected:
    defaultMode: 0440
    sources:
      {{- range $name, $from := . }}
      - secret: {name: {{ $from.secret }}, items: [{key: {{ $from.key }}, path: {{ $name }}}]}
      {{- end }}
{{- end }}
- name: data
  emptyDir: {sizeLimit: 256Mi}
- name: tmp
  emptyDir: {sizeLimit: 256Mi}
{{- end }}
