{{- define "job.pod" -}}
metadata:
  annotations:
    {{- range $key, $value := .Values.podAnnotations }}
    {{ $key }}: {{ $value | quote }}
    {{- end }}
spec:
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  {{- with .Values.zone }}
  nodeSelector:
    mlx.navercorp.com/zone: {{ . }}
  {{- end }}
  volumes:
    - name: shared-memory
      emptyDir:
        medium: Memory
    {{- range $name, $volume := .Values.volumes }}
    - name: {{ $name }}
      persistentVolumeClaim:
        claimName: {{ $volume.pvc }}
    {{- end }}
  containers:
    - name: {{ if .Values.distributed.enabled }}pytorch{{ else }}main{{ end }}
      image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      command: [{{ if .Values.distributed.enabled }}torchrun{{ else }}python{{ end }}]
      args:
        - {{ .Values.script }}
        {{- range .Values.args }}
        - --{{ .name }}
        - {{ .value | quote }}
        {{- end }}
      env:
        {{- if .Values.distributed.enabled }}
        - name: GLOO_SOCKET_FAMILY
          value: AF_INET
        - name: NCCL_SOCKET_FAMILY
          value: AF_INET
        {{- end }}
        {{- if .Values.debug }}
        - name: TORCH_DISTRIBUTED_DEBUG
          value: DETAIL
        {{- end }}
        {{- range $name, $value := .Values.env }}
        - name: {{ $name }}
          value: {{ $value | quote }}
        {{- end }}
        {{- range $name, $from := .Values.secretEnv }}
        - name: {{ $name }}
          valueFrom:
            secretKeyRef:
              name: {{ $from.name }}
              key: {{ $from.key }}
        {{- end }}
      resources:
        limits:
          cpu: {{ .Values.resources.cpu | quote }}
          memory: {{ .Values.resources.memory }}
          nvidia.com/gpu: {{ .Values.resources.gpus | quote }}
      {{- if .Values.infiniband }}
      securityContext:
        capabilities:
          add: [IPC_LOCK]
      {{- end }}
      volumeMounts:
        - name: shared-memory
          mountPath: /dev/shm
        {{- range $name, $volume := .Values.volumes }}
        - name: {{ $name }}
          mountPath: {{ $volume.mountPath }}
        {{- end }}
{{- end -}}
